import CaravanPostgreSQL
import CaravanRuntime

@testable import CaravanStorePostgres

/// Makes changes of the tables in one schema fail as if they had met another transaction: the change itself, or the
/// commit. Each change of a table is a step, and so is, at the commit, each row that was changed.
///
/// What counts the steps is a sequence: it goes on whatever is rolled back.
struct Hindrance {
  /// What PostgreSQL says of two transactions that met.
  enum State: Int64, Sendable, CaseIterable {
    case serializationFailure = 40_001
    case deadlock = 40_002
  }

  private let admin: Connection

  /// - Parameter admin: in the schema, with the store's tables.
  init(_ admin: Connection) throws {
    self.admin = admin
    try admin.execute("CREATE SEQUENCE hindrance_steps")
    try admin.execute(
      "CREATE TABLE hindrance(low bigint, high bigint, period bigint, state bigint, until timestamptz)")
    try admin.execute("INSERT INTO hindrance VALUES (0, 0, 1, 0, now())")
    try admin.execute(
      """
      CREATE FUNCTION hinder() RETURNS boolean LANGUAGE plpgsql AS $$
      DECLARE step bigint := nextval('hindrance_steps'); hindrance record;
      BEGIN
        SELECT * INTO hindrance FROM hindrance;
        IF step BETWEEN hindrance.low AND hindrance.high AND step % hindrance.period = 0 THEN
          RAISE EXCEPTION 'it met another' USING
            ERRCODE = CASE hindrance.state WHEN 40001 THEN '40001' ELSE '40P01' END;
        END IF;
        RETURN true;
      END $$
      """)
    try admin.execute(
      """
      CREATE FUNCTION hinder_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM hinder(); RETURN NULL; END $$
      """)
    for table in Layout.tableNames {
      try admin.execute(
        """
        CREATE TRIGGER hinder AFTER INSERT OR UPDATE OR DELETE ON \(table)
        FOR EACH STATEMENT EXECUTE FUNCTION hinder_change()
        """)
      try admin.execute(
        """
        CREATE CONSTRAINT TRIGGER hinder_commit AFTER INSERT OR UPDATE OR DELETE ON \(table)
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hinder_change()
        """)
    }
  }

  /// From now on reads can be hindered. A transaction that only reads moves no sequence on: what counts is the time.
  func beginReads() throws {
    try admin.execute(
      """
      CREATE FUNCTION hinder_read() RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN
        IF clock_timestamp() < (SELECT until FROM hindrance) THEN
          RAISE EXCEPTION 'it met another' USING ERRCODE = '40001';
        END IF;
        RETURN true;
      END $$
      """)
    for table in Layout.tableNames {
      try admin.execute("ALTER TABLE \(table) RENAME TO \(table)_below")
      try admin.execute("CREATE VIEW \(table) AS SELECT * FROM \(table)_below WHERE hinder_read()")
    }
  }

  /// For so long each read of a row fails.
  func hinderReads(for time: Duration) throws {
    try admin.run(
      "UPDATE hindrance SET until = clock_timestamp() + $1 * interval '1 millisecond'", time.wholeMilliseconds)
  }

  /// Counting from now on, step `step` fails, and so many after it.
  func arm(at step: Int, times: Int = 1, _ state: State) throws {
    try admin.run(
      "UPDATE hindrance SET low = $1, high = $2, period = 1, state = $3", step, step + times - 1, state.rawValue)
    try admin.run("SELECT setval('hindrance_steps', 1, false)")
  }

  /// Every so many steps one fails.
  func arm(every period: Int, _ state: State) throws {
    try admin.run("UPDATE hindrance SET low = 1, high = $1, period = $2, state = $3", Int.max, period, state.rawValue)
  }

  /// - Returns: whether there were so many steps.
  func disarm() throws -> Bool {
    let rows = try admin.run(
      "SELECT (SELECT low FROM hindrance) <= last_value AND is_called FROM hindrance_steps")
    let was = rows.first?.flag(0) ?? false
    try admin.run("UPDATE hindrance SET low = 0, high = 0")
    return was
  }
}
