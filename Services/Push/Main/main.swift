import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanPushDriver
import CaravanRuntime

let vapidKey = Flag<String>(
  "vapid-key", "FILE", "the key that signs who sends Web Push messages (VAPID)", environment: "CARAVAN_VAPID_KEY")
let webhookKey = Flag<String>(
  "webhook-key", "FILE", "the keys from which secrets of webhooks come, read again when the file changes",
  environment: "CARAVAN_WEBHOOK_KEY")
let contact = Flag<String?>(
  "push-contact", "ADDRESS", "whom operators of push services can turn to: mailto:… or https://…",
  environment: "CARAVAN_PUSH_CONTACT")
let origin = Flag<String>(
  "push-origin", "NAME", "how the suite calls itself to servers that are asked whether they take events",
  environment: "CARAVAN_PUSH_ORIGIN", default: "caravan")
let exceptions = Flag<[HostPort]>(
  "push-allow", "HOST:PORT,…",
  "servers that are called wherever they are, also without TLS: anybody who uses the "
    + "suite can have them called", environment: "CARAVAN_PUSH_ALLOW", default: [])
let authority = Flag<String?>(
  "push-ca", "FILE", "who may have signed servers' certificates (PEM); default: whom the system trusts",
  environment: "CARAVAN_PUSH_CA")

Command(
  "caravan-push", "Carries Caravan's notifications to browsers, phones and servers that hold no connection.",
  flags: .bus + [vapidKey, webhookKey, contact, origin, exceptions, authority]
).serve { options, host, bus in
  var settings = PushSettings(key: try P256PrivateKey.reading(options[vapidKey]))
  if let contact = options[contact] {
    guard contact.hasPrefix("mailto:") || contact.hasPrefix("https://") else {
      throw CaravanError(.invalidData, "--push-contact begins with mailto: or https://")
    }
    settings.contact = contact
  }
  settings.origin = options[origin]
  settings.exceptions = options[exceptions]
  settings.authorityFile = options[authority]
  let keys = try RingFile(options[webhookKey], host: host)
  return [keys, try PushService(settings, keys: keys, bus: bus, host: host)]
}
