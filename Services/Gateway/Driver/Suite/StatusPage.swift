internal import CaravanHTTPServer

/// One plain page that shows every instance, its rates and latencies, and asks again every second.
enum StatusPage {
  static let response = HTTPResponse(
    status: 200,
    headers: [
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    ],
    body: Array(html.utf8))

  private static let html = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Caravan</title>
    <style>
      :root { color-scheme: light dark; --line: #8884; --dim: #888; --good: #2a8f4f; --bad: #c0392b; }
      body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem; }
      h1 { font-size: 1.4rem; margin: 0; } header { display: flex; gap: 1rem; align-items: baseline; }
      #state { font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); }
      table { border-collapse: collapse; width: 100%; margin-top: 1.2rem; table-layout: fixed; }
      table { font-variant-numeric: tabular-nums; }
      caption { text-align: left; font-weight: 600; padding: .3rem 0; }
      caption small { font-weight: 400; color: var(--dim); margin-left: .6rem; }
      th, td { text-align: right; padding: .25rem .6rem; border-top: 1px solid var(--line); }
      th { font-weight: 500; color: var(--dim); } th:first-child, td:first-child { text-align: left; width: 30%; }
      tr.idle td { color: var(--dim); } td.bad { font-weight: 600; }
      @media (max-width: 40rem) { :is(th, td):is(:nth-child(4), :nth-child(5)) { display: none; } }
      footer { margin: 2rem 0; color: var(--dim); } a { color: inherit; }
    </style>
    <header><h1>Caravan</h1><span id="state" role="status">asking …</span></header>
    <form id="login" hidden>
      <p><label>metrics or admin token <input id="token" type="password" autocomplete="off"></label>
        <button>show</button></p>
    </form>
    <main id="suite"></main>
    <footer>
      <a href="/metrics">metrics</a> · <a href="/readyz">readiness</a> · <a href="/v1/status">this page as JSON</a>
    </footer>
    <script>
      function cell(row, text, tag = "td") {
        const cell = row.appendChild(document.createElement(tag));
        cell.textContent = text;
        return cell;
      }
      const number = (value, digits) => value === null ? "–"
        : value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});
      function table(instance) {
        const table = document.createElement("table"), caption = table.createCaption();
        caption.textContent = instance.service;
        const facts = document.createElement("small");
        const since = instance.started.slice(0, 19).replace("T", " ");
        facts.textContent = `${instance.instance.slice(0, 8)} · ${instance.host} pid ${instance.process} · ` +
          `${number(instance.resident_bytes / 1048576, 1)} MiB · since ${since} UTC`;
        caption.append(facts);
        if (instance.endpoints.length === 0) return table;
        const head = table.createTHead().insertRow();
        const names = ["endpoint", "per second", "mean ms", "in flight", "requests", "errors"];
        for (const name of names) cell(head, name, "th");
        const body = table.createTBody();
        for (const e of instance.endpoints) {
          const row = body.insertRow();
          cell(row, e.name); cell(row, number(e.rate, 1)); cell(row, number(e.latency_ms, 2));
          cell(row, number(e.in_flight, 0)); cell(row, number(e.requests, 0));
          if (e.errors > 0) cell(row, number(e.errors, 0)).className = "bad"; else cell(row, "0");
          if (e.requests === 0) row.className = "idle";
        }
        return table;
      }
      // From another machine; known to this page alone, and as long as it is shown.
      let token = "";
      document.getElementById("login").addEventListener("submit", event => {
        event.preventDefault();
        token = document.getElementById("token").value.trim();
        document.getElementById("login").hidden = true;
        refresh();
      });
      async function refresh() {
        const state = document.getElementById("state");
        try {
          const answer = await fetch("/v1/status", token ? {headers: {authorization: `Bearer ${token}`}} : {});
          if (answer.status === 401) {
            document.getElementById("login").hidden = false;
            state.textContent = token ? "that token is not known" : "a token is needed";
            state.className = "bad";
            return;
          }
          const suite = await answer.json();
          if (!answer.ok) throw new Error(suite.error.message);
          document.getElementById("suite").replaceChildren(...suite.instances.map(table));
          const troubles = [...suite.obstacles, ...suite.warnings];
          const ready = troubles.length === 0;
          state.textContent = ready ? "all services run" : troubles.join("; ");
          state.className = ready ? "good" : "bad";
        } catch (problem) {
          state.textContent = `no answer: ${problem.message}`;
          state.className = "bad";
        }
        setTimeout(refresh, 1000);
      }
      refresh();
    </script>
    </html>
    """
}
