// Made by Protos/generate from caravan/v1/app.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public enum AppStanding: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case bound = 1
  case allowed = 2
  case waiting = 3

  var c: Caravan__V1__AppStanding {
    switch self {
    case .unspecified: CARAVAN__V1__APP_STANDING__APP_STANDING_UNSPECIFIED
    case .bound: CARAVAN__V1__APP_STANDING__APP_STANDING_BOUND
    case .allowed: CARAVAN__V1__APP_STANDING__APP_STANDING_ALLOWED
    case .waiting: CARAVAN__V1__APP_STANDING__APP_STANDING_WAITING
    }
  }

  init(c: Caravan__V1__AppStanding) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum TableSync: UInt32, Sendable, CaseIterable {
  case full = 0
  case localOnly = 1
  case recent = 80
  case query = 120

  var c: Caravan__V1__TableSync {
    switch self {
    case .full: CARAVAN__V1__TABLE_SYNC__TABLE_SYNC_FULL
    case .localOnly: CARAVAN__V1__TABLE_SYNC__TABLE_SYNC_LOCAL_ONLY
    case .recent: CARAVAN__V1__TABLE_SYNC__TABLE_SYNC_RECENT
    case .query: CARAVAN__V1__TABLE_SYNC__TABLE_SYNC_QUERY
    }
  }

  init(c: Caravan__V1__TableSync) { self = Self(rawValue: c.rawValue) ?? .full }
}

public enum StoreMode: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case copyOnWrite = 1
  case inPlace = 2

  var c: Caravan__V1__StoreMode {
    switch self {
    case .unspecified: CARAVAN__V1__STORE_MODE__STORE_MODE_UNSPECIFIED
    case .copyOnWrite: CARAVAN__V1__STORE_MODE__STORE_MODE_COPY_ON_WRITE
    case .inPlace: CARAVAN__V1__STORE_MODE__STORE_MODE_IN_PLACE
    }
  }

  init(c: Caravan__V1__StoreMode) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum FetchPolicy: UInt32, Sendable, CaseIterable {
  case eager = 0
  case lazy = 1
  case none = 2

  var c: Caravan__V1__FetchPolicy {
    switch self {
    case .eager: CARAVAN__V1__FETCH_POLICY__FETCH_POLICY_EAGER
    case .lazy: CARAVAN__V1__FETCH_POLICY__FETCH_POLICY_LAZY
    case .none: CARAVAN__V1__FETCH_POLICY__FETCH_POLICY_NONE
    }
  }

  init(c: Caravan__V1__FetchPolicy) { self = Self(rawValue: c.rawValue) ?? .eager }
}

public enum Consistency: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case row = 1
  case snapshot = 2

  var c: Caravan__V1__Consistency {
    switch self {
    case .unspecified: CARAVAN__V1__CONSISTENCY__CONSISTENCY_UNSPECIFIED
    case .row: CARAVAN__V1__CONSISTENCY__CONSISTENCY_ROW
    case .snapshot: CARAVAN__V1__CONSISTENCY__CONSISTENCY_SNAPSHOT
    }
  }

  init(c: Caravan__V1__Consistency) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum ResetChoice: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case keepLocal = 1
  case takeServer = 2

  var c: Caravan__V1__ResetChoice {
    switch self {
    case .unspecified: CARAVAN__V1__RESET_CHOICE__RESET_CHOICE_UNSPECIFIED
    case .keepLocal: CARAVAN__V1__RESET_CHOICE__RESET_CHOICE_KEEP_LOCAL
    case .takeServer: CARAVAN__V1__RESET_CHOICE__RESET_CHOICE_TAKE_SERVER
    }
  }

  init(c: Caravan__V1__ResetChoice) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum SyncMode: UInt32, Sendable, CaseIterable {
  case idle = 0
  case synchronizing = 1
  case notConnected = 2
  case resetting = 3
  case clientError = 4
  case internalError = 5
  case notRecoverable = 6

  var c: Caravan__V1__SyncMode {
    switch self {
    case .idle: CARAVAN__V1__SYNC_MODE__SYNC_MODE_IDLE
    case .synchronizing: CARAVAN__V1__SYNC_MODE__SYNC_MODE_SYNCHRONIZING
    case .notConnected: CARAVAN__V1__SYNC_MODE__SYNC_MODE_NOT_CONNECTED
    case .resetting: CARAVAN__V1__SYNC_MODE__SYNC_MODE_RESETTING
    case .clientError: CARAVAN__V1__SYNC_MODE__SYNC_MODE_CLIENT_ERROR
    case .internalError: CARAVAN__V1__SYNC_MODE__SYNC_MODE_INTERNAL_ERROR
    case .notRecoverable: CARAVAN__V1__SYNC_MODE__SYNC_MODE_NOT_RECOVERABLE
    }
  }

  init(c: Caravan__V1__SyncMode) { self = Self(rawValue: c.rawValue) ?? .idle }
}

public enum WriteLoss: UInt32, Sendable, CaseIterable {
  case asRegistered = 0
  case tolerated = 1
  case none = 2

  var c: Caravan__V1__WriteLoss {
    switch self {
    case .asRegistered: CARAVAN__V1__WRITE_LOSS__WRITE_LOSS_AS_REGISTERED
    case .tolerated: CARAVAN__V1__WRITE_LOSS__WRITE_LOSS_TOLERATED
    case .none: CARAVAN__V1__WRITE_LOSS__WRITE_LOSS_NONE
    }
  }

  init(c: Caravan__V1__WriteLoss) { self = Self(rawValue: c.rawValue) ?? .asRegistered }
}

public enum WriteClass: UInt32, Sendable, CaseIterable {
  case durable = 0
  case accepted = 1

  var c: Caravan__V1__WriteClass {
    switch self {
    case .durable: CARAVAN__V1__WRITE_CLASS__WRITE_CLASS_DURABLE
    case .accepted: CARAVAN__V1__WRITE_CLASS__WRITE_CLASS_ACCEPTED
    }
  }

  init(c: Caravan__V1__WriteClass) { self = Self(rawValue: c.rawValue) ?? .durable }
}

public enum RecordVerdict: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case done = 1
  case merged = 2
  case conflict = 3
  case refused = 4

  var c: Caravan__V1__RecordVerdict {
    switch self {
    case .unspecified: CARAVAN__V1__RECORD_VERDICT__RECORD_VERDICT_UNSPECIFIED
    case .done: CARAVAN__V1__RECORD_VERDICT__RECORD_VERDICT_DONE
    case .merged: CARAVAN__V1__RECORD_VERDICT__RECORD_VERDICT_MERGED
    case .conflict: CARAVAN__V1__RECORD_VERDICT__RECORD_VERDICT_CONFLICT
    case .refused: CARAVAN__V1__RECORD_VERDICT__RECORD_VERDICT_REFUSED
    }
  }

  init(c: Caravan__V1__RecordVerdict) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum RowState: UInt32, Sendable, CaseIterable {
  case clean = 0
  case dirty = 1
  case pending = 2
  case conflict = 3

  var c: Caravan__V1__RowState {
    switch self {
    case .clean: CARAVAN__V1__ROW_STATE__ROW_STATE_CLEAN
    case .dirty: CARAVAN__V1__ROW_STATE__ROW_STATE_DIRTY
    case .pending: CARAVAN__V1__ROW_STATE__ROW_STATE_PENDING
    case .conflict: CARAVAN__V1__ROW_STATE__ROW_STATE_CONFLICT
    }
  }

  init(c: Caravan__V1__RowState) { self = Self(rawValue: c.rawValue) ?? .clean }
}

public enum RowCopy: UInt32, Sendable, CaseIterable {
  case mine = 0
  case theirs = 1
  case ancestor = 2

  var c: Caravan__V1__RowCopy {
    switch self {
    case .mine: CARAVAN__V1__ROW_COPY__ROW_COPY_MINE
    case .theirs: CARAVAN__V1__ROW_COPY__ROW_COPY_THEIRS
    case .ancestor: CARAVAN__V1__ROW_COPY__ROW_COPY_ANCESTOR
    }
  }

  init(c: Caravan__V1__RowCopy) { self = Self(rawValue: c.rawValue) ?? .mine }
}

public enum LinkClass: UInt32, Sendable, CaseIterable {
  case none = 0
  case wired = 1
  case wifi = 2
  case cellular = 3
  case roaming = 4

  var c: Caravan__V1__LinkClass {
    switch self {
    case .none: CARAVAN__V1__LINK_CLASS__LINK_CLASS_NONE
    case .wired: CARAVAN__V1__LINK_CLASS__LINK_CLASS_WIRED
    case .wifi: CARAVAN__V1__LINK_CLASS__LINK_CLASS_WIFI
    case .cellular: CARAVAN__V1__LINK_CLASS__LINK_CLASS_CELLULAR
    case .roaming: CARAVAN__V1__LINK_CLASS__LINK_CLASS_ROAMING
    }
  }

  init(c: Caravan__V1__LinkClass) { self = Self(rawValue: c.rawValue) ?? .none }
}

public enum Choice: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case mine = 1
  case theirs = 2
  case new = 3

  var c: Caravan__V1__Choice {
    switch self {
    case .unspecified: CARAVAN__V1__CHOICE__CHOICE_UNSPECIFIED
    case .mine: CARAVAN__V1__CHOICE__CHOICE_MINE
    case .theirs: CARAVAN__V1__CHOICE__CHOICE_THEIRS
    case .new: CARAVAN__V1__CHOICE__CHOICE_NEW
    }
  }

  init(c: Caravan__V1__Choice) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum UpcallKind: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case newData = 1
  case conflict = 2
  case rowsLost = 3
  case lookAnew = 4

  var c: Caravan__V1__UpcallKind {
    switch self {
    case .unspecified: CARAVAN__V1__UPCALL_KIND__UPCALL_UNSPECIFIED
    case .newData: CARAVAN__V1__UPCALL_KIND__UPCALL_NEW_DATA
    case .conflict: CARAVAN__V1__UPCALL_KIND__UPCALL_CONFLICT
    case .rowsLost: CARAVAN__V1__UPCALL_KIND__UPCALL_ROWS_LOST
    case .lookAnew: CARAVAN__V1__UPCALL_KIND__UPCALL_LOOK_ANEW
    }
  }

  init(c: Caravan__V1__UpcallKind) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public struct AppRequest: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case hello(AppHello)
    case createTable(CreateTable)
    case dropTable(DropLocalTable)
    case beginWrite(BeginWrite)
    case writeObject(WriteObject)
    case truncateObject(TruncateObject)
    case closeWrite(CloseWrite)
    case beginRead(Select)
    case nextPage(CursorRef)
    case closeCursor(CursorRef)
    case readObject(ReadObject)
    case deleteRows(DeleteRows)
    case registerSync(RegisterSync)
    case unregisterSync(UnregisterSync)
    case syncNow(SyncNow)
    case beginResolution(TableName)
    case conflictedRows(ConflictedRows)
    case resolveConflict(ResolveConflict)
    case endResolution(EndResolution)
    case status(Empty)
    case setLink(SetLink)
    case watch(Watch)
    case setPolicy(NetworkPolicy)
    case taken(TakenUpcalls)
    case updateTable(UpdateTable)
    case resetTable(ResetTable)
    case resetDevice(Empty)
    case listen(TableName)
    case listApps(Empty)
    case allowApp(AllowApp)
    case forgetApp(AppName)
    case queryCloud(QueryCloud)
    case manageSubscriptions(ManageSubscriptions)
    case fetchRecords(FetchRecords)
    case reserveNumbers(ReserveNumbers)
    case changeRecords(ChangeRecords)
    case managePushTargets(PushTargetsRequest)
    case openObjects(OpenObjects)
    case beginLive(BeginLive)
    case nextLive(LiveRef)
    case endLive(LiveRef)
  }

  public var id: UInt64
  public var kind: Kind?

  public init(
    id: UInt64 = 0,
    kind: Kind? = nil
  ) {
    self.id = id
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AppRequest> {
    let m = arena.make(Caravan__V1__AppRequest.self, caravan__v1__app_request__init)
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    switch kind {
    case .hello(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_HELLO
      m.pointee.hello = value.pack(into: &arena)
    case .createTable(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_CREATE_TABLE
      m.pointee.create_table = value.pack(into: &arena)
    case .dropTable(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_DROP_TABLE
      m.pointee.drop_table = value.pack(into: &arena)
    case .beginWrite(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_BEGIN_WRITE
      m.pointee.begin_write = value.pack(into: &arena)
    case .writeObject(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_WRITE_OBJECT
      m.pointee.write_object = value.pack(into: &arena)
    case .truncateObject(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_TRUNCATE_OBJECT
      m.pointee.truncate_object = value.pack(into: &arena)
    case .closeWrite(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_CLOSE_WRITE
      m.pointee.close_write = value.pack(into: &arena)
    case .beginRead(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_BEGIN_READ
      m.pointee.begin_read = value.pack(into: &arena)
    case .nextPage(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_NEXT_PAGE
      m.pointee.next_page = value.pack(into: &arena)
    case .closeCursor(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_CLOSE_CURSOR
      m.pointee.close_cursor = value.pack(into: &arena)
    case .readObject(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_READ_OBJECT
      m.pointee.read_object = value.pack(into: &arena)
    case .deleteRows(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_DELETE_ROWS
      m.pointee.delete_rows = value.pack(into: &arena)
    case .registerSync(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_REGISTER_SYNC
      m.pointee.register_sync = value.pack(into: &arena)
    case .unregisterSync(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_UNREGISTER_SYNC
      m.pointee.unregister_sync = value.pack(into: &arena)
    case .syncNow(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_SYNC_NOW
      m.pointee.sync_now = value.pack(into: &arena)
    case .beginResolution(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_BEGIN_RESOLUTION
      m.pointee.begin_resolution = value.pack(into: &arena)
    case .conflictedRows(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_CONFLICTED_ROWS
      m.pointee.conflicted_rows = value.pack(into: &arena)
    case .resolveConflict(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_RESOLVE_CONFLICT
      m.pointee.resolve_conflict = value.pack(into: &arena)
    case .endResolution(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_END_RESOLUTION
      m.pointee.end_resolution = value.pack(into: &arena)
    case .status(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_STATUS
      m.pointee.status = value.pack(into: &arena)
    case .setLink(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_SET_LINK
      m.pointee.set_link = value.pack(into: &arena)
    case .watch(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_WATCH
      m.pointee.watch = value.pack(into: &arena)
    case .setPolicy(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_SET_POLICY
      m.pointee.set_policy = value.pack(into: &arena)
    case .taken(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_TAKEN
      m.pointee.taken = value.pack(into: &arena)
    case .updateTable(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_UPDATE_TABLE
      m.pointee.update_table = value.pack(into: &arena)
    case .resetTable(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_RESET_TABLE
      m.pointee.reset_table = value.pack(into: &arena)
    case .resetDevice(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_RESET_DEVICE
      m.pointee.reset_device = value.pack(into: &arena)
    case .listen(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_LISTEN
      m.pointee.listen = value.pack(into: &arena)
    case .listApps(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_LIST_APPS
      m.pointee.list_apps = value.pack(into: &arena)
    case .allowApp(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_ALLOW_APP
      m.pointee.allow_app = value.pack(into: &arena)
    case .forgetApp(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_FORGET_APP
      m.pointee.forget_app = value.pack(into: &arena)
    case .queryCloud(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_QUERY_CLOUD
      m.pointee.query_cloud = value.pack(into: &arena)
    case .manageSubscriptions(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_MANAGE_SUBSCRIPTIONS
      m.pointee.manage_subscriptions = value.pack(into: &arena)
    case .fetchRecords(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_FETCH_RECORDS
      m.pointee.fetch_records = value.pack(into: &arena)
    case .reserveNumbers(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_RESERVE_NUMBERS
      m.pointee.reserve_numbers = value.pack(into: &arena)
    case .changeRecords(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_CHANGE_RECORDS
      m.pointee.change_records = value.pack(into: &arena)
    case .managePushTargets(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_MANAGE_PUSH_TARGETS
      m.pointee.manage_push_targets = value.pack(into: &arena)
    case .openObjects(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_OPEN_OBJECTS
      m.pointee.open_objects = value.pack(into: &arena)
    case .beginLive(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_BEGIN_LIVE
      m.pointee.begin_live = value.pack(into: &arena)
    case .nextLive(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_NEXT_LIVE
      m.pointee.next_live = value.pack(into: &arena)
    case .endLive(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REQUEST__KIND_END_LIVE
      m.pointee.end_live = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AppRequest>) throws(WireError) {
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    switch m.pointee.kind_case {
    case CARAVAN__V1__APP_REQUEST__KIND_HELLO: kind = .hello(try AppHello(c: m.pointee.hello))
    case CARAVAN__V1__APP_REQUEST__KIND_CREATE_TABLE: kind = .createTable(try CreateTable(c: m.pointee.create_table))
    case CARAVAN__V1__APP_REQUEST__KIND_DROP_TABLE: kind = .dropTable(try DropLocalTable(c: m.pointee.drop_table))
    case CARAVAN__V1__APP_REQUEST__KIND_BEGIN_WRITE: kind = .beginWrite(try BeginWrite(c: m.pointee.begin_write))
    case CARAVAN__V1__APP_REQUEST__KIND_WRITE_OBJECT: kind = .writeObject(try WriteObject(c: m.pointee.write_object))
    case CARAVAN__V1__APP_REQUEST__KIND_TRUNCATE_OBJECT:
      kind = .truncateObject(try TruncateObject(c: m.pointee.truncate_object))
    case CARAVAN__V1__APP_REQUEST__KIND_CLOSE_WRITE: kind = .closeWrite(try CloseWrite(c: m.pointee.close_write))
    case CARAVAN__V1__APP_REQUEST__KIND_BEGIN_READ: kind = .beginRead(try Select(c: m.pointee.begin_read))
    case CARAVAN__V1__APP_REQUEST__KIND_NEXT_PAGE: kind = .nextPage(try CursorRef(c: m.pointee.next_page))
    case CARAVAN__V1__APP_REQUEST__KIND_CLOSE_CURSOR: kind = .closeCursor(try CursorRef(c: m.pointee.close_cursor))
    case CARAVAN__V1__APP_REQUEST__KIND_READ_OBJECT: kind = .readObject(try ReadObject(c: m.pointee.read_object))
    case CARAVAN__V1__APP_REQUEST__KIND_DELETE_ROWS: kind = .deleteRows(try DeleteRows(c: m.pointee.delete_rows))
    case CARAVAN__V1__APP_REQUEST__KIND_REGISTER_SYNC:
      kind = .registerSync(try RegisterSync(c: m.pointee.register_sync))
    case CARAVAN__V1__APP_REQUEST__KIND_UNREGISTER_SYNC:
      kind = .unregisterSync(try UnregisterSync(c: m.pointee.unregister_sync))
    case CARAVAN__V1__APP_REQUEST__KIND_SYNC_NOW: kind = .syncNow(try SyncNow(c: m.pointee.sync_now))
    case CARAVAN__V1__APP_REQUEST__KIND_BEGIN_RESOLUTION:
      kind = .beginResolution(try TableName(c: m.pointee.begin_resolution))
    case CARAVAN__V1__APP_REQUEST__KIND_CONFLICTED_ROWS:
      kind = .conflictedRows(try ConflictedRows(c: m.pointee.conflicted_rows))
    case CARAVAN__V1__APP_REQUEST__KIND_RESOLVE_CONFLICT:
      kind = .resolveConflict(try ResolveConflict(c: m.pointee.resolve_conflict))
    case CARAVAN__V1__APP_REQUEST__KIND_END_RESOLUTION:
      kind = .endResolution(try EndResolution(c: m.pointee.end_resolution))
    case CARAVAN__V1__APP_REQUEST__KIND_STATUS: kind = .status(try Empty(c: m.pointee.status))
    case CARAVAN__V1__APP_REQUEST__KIND_SET_LINK: kind = .setLink(try SetLink(c: m.pointee.set_link))
    case CARAVAN__V1__APP_REQUEST__KIND_WATCH: kind = .watch(try Watch(c: m.pointee.watch))
    case CARAVAN__V1__APP_REQUEST__KIND_SET_POLICY: kind = .setPolicy(try NetworkPolicy(c: m.pointee.set_policy))
    case CARAVAN__V1__APP_REQUEST__KIND_TAKEN: kind = .taken(try TakenUpcalls(c: m.pointee.taken))
    case CARAVAN__V1__APP_REQUEST__KIND_UPDATE_TABLE: kind = .updateTable(try UpdateTable(c: m.pointee.update_table))
    case CARAVAN__V1__APP_REQUEST__KIND_RESET_TABLE: kind = .resetTable(try ResetTable(c: m.pointee.reset_table))
    case CARAVAN__V1__APP_REQUEST__KIND_RESET_DEVICE: kind = .resetDevice(try Empty(c: m.pointee.reset_device))
    case CARAVAN__V1__APP_REQUEST__KIND_LISTEN: kind = .listen(try TableName(c: m.pointee.listen))
    case CARAVAN__V1__APP_REQUEST__KIND_LIST_APPS: kind = .listApps(try Empty(c: m.pointee.list_apps))
    case CARAVAN__V1__APP_REQUEST__KIND_ALLOW_APP: kind = .allowApp(try AllowApp(c: m.pointee.allow_app))
    case CARAVAN__V1__APP_REQUEST__KIND_FORGET_APP: kind = .forgetApp(try AppName(c: m.pointee.forget_app))
    case CARAVAN__V1__APP_REQUEST__KIND_QUERY_CLOUD: kind = .queryCloud(try QueryCloud(c: m.pointee.query_cloud))
    case CARAVAN__V1__APP_REQUEST__KIND_MANAGE_SUBSCRIPTIONS:
      kind = .manageSubscriptions(try ManageSubscriptions(c: m.pointee.manage_subscriptions))
    case CARAVAN__V1__APP_REQUEST__KIND_FETCH_RECORDS:
      kind = .fetchRecords(try FetchRecords(c: m.pointee.fetch_records))
    case CARAVAN__V1__APP_REQUEST__KIND_RESERVE_NUMBERS:
      kind = .reserveNumbers(try ReserveNumbers(c: m.pointee.reserve_numbers))
    case CARAVAN__V1__APP_REQUEST__KIND_CHANGE_RECORDS:
      kind = .changeRecords(try ChangeRecords(c: m.pointee.change_records))
    case CARAVAN__V1__APP_REQUEST__KIND_MANAGE_PUSH_TARGETS:
      kind = .managePushTargets(try PushTargetsRequest(c: m.pointee.manage_push_targets))
    case CARAVAN__V1__APP_REQUEST__KIND_OPEN_OBJECTS: kind = .openObjects(try OpenObjects(c: m.pointee.open_objects))
    case CARAVAN__V1__APP_REQUEST__KIND_BEGIN_LIVE: kind = .beginLive(try BeginLive(c: m.pointee.begin_live))
    case CARAVAN__V1__APP_REQUEST__KIND_NEXT_LIVE: kind = .nextLive(try LiveRef(c: m.pointee.next_live))
    case CARAVAN__V1__APP_REQUEST__KIND_END_LIVE: kind = .endLive(try LiveRef(c: m.pointee.end_live))
    default: kind = nil
    }
  }

  static let shape = 119

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__app_request__get_packed_size(m)) { caravan__v1__app_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__app_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AppReply: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case failure(Failure)
    case welcome(AppWelcome)
    case done(Empty)
    case writeOpened(WriteOpened)
    case writeClosed(WriteClosed)
    case rows(RowPage)
    case objectBytes(ObjectBytes)
    case affected(Affected)
    case conflicts(ConflictPage)
    case status(AgentStatus)
    case upcall(Upcall)
    case syncEvent(SyncEvent)
    case apps(AppList)
    case cloudRows(CloudRows)
    case subscriptions(SubscriptionsReply)
    case foundRecords(FoundRecords)
    case reservedNumbers(ReservedNumbers)
    case changedRecords(ChangedRecords)
    case pushTargets(PushTargetsReply)
    case livePart(LivePart)
  }

  public var id: UInt64
  public var kind: Kind?

  public init(
    id: UInt64 = 0,
    kind: Kind? = nil
  ) {
    self.id = id
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AppReply> {
    let m = arena.make(Caravan__V1__AppReply.self, caravan__v1__app_reply__init)
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    switch kind {
    case .failure(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_FAILURE
      m.pointee.failure = value.pack(into: &arena)
    case .welcome(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_WELCOME
      m.pointee.welcome = value.pack(into: &arena)
    case .done(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_DONE
      m.pointee.done = value.pack(into: &arena)
    case .writeOpened(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_WRITE_OPENED
      m.pointee.write_opened = value.pack(into: &arena)
    case .writeClosed(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_WRITE_CLOSED
      m.pointee.write_closed = value.pack(into: &arena)
    case .rows(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_ROWS
      m.pointee.rows = value.pack(into: &arena)
    case .objectBytes(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_OBJECT_BYTES
      m.pointee.object_bytes = value.pack(into: &arena)
    case .affected(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_AFFECTED
      m.pointee.affected = value.pack(into: &arena)
    case .conflicts(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_CONFLICTS
      m.pointee.conflicts = value.pack(into: &arena)
    case .status(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_STATUS
      m.pointee.status = value.pack(into: &arena)
    case .upcall(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_UPCALL
      m.pointee.upcall = value.pack(into: &arena)
    case .syncEvent(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_SYNC_EVENT
      m.pointee.sync_event = value.pack(into: &arena)
    case .apps(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_APPS
      m.pointee.apps = value.pack(into: &arena)
    case .cloudRows(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_CLOUD_ROWS
      m.pointee.cloud_rows = value.pack(into: &arena)
    case .subscriptions(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_SUBSCRIPTIONS
      m.pointee.subscriptions = value.pack(into: &arena)
    case .foundRecords(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_FOUND_RECORDS
      m.pointee.found_records = value.pack(into: &arena)
    case .reservedNumbers(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_RESERVED_NUMBERS
      m.pointee.reserved_numbers = value.pack(into: &arena)
    case .changedRecords(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_CHANGED_RECORDS
      m.pointee.changed_records = value.pack(into: &arena)
    case .pushTargets(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_PUSH_TARGETS
      m.pointee.push_targets = value.pack(into: &arena)
    case .livePart(let value):
      m.pointee.kind_case = CARAVAN__V1__APP_REPLY__KIND_LIVE_PART
      m.pointee.live_part = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AppReply>) throws(WireError) {
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    switch m.pointee.kind_case {
    case CARAVAN__V1__APP_REPLY__KIND_FAILURE: kind = .failure(try Failure(c: m.pointee.failure))
    case CARAVAN__V1__APP_REPLY__KIND_WELCOME: kind = .welcome(try AppWelcome(c: m.pointee.welcome))
    case CARAVAN__V1__APP_REPLY__KIND_DONE: kind = .done(try Empty(c: m.pointee.done))
    case CARAVAN__V1__APP_REPLY__KIND_WRITE_OPENED: kind = .writeOpened(try WriteOpened(c: m.pointee.write_opened))
    case CARAVAN__V1__APP_REPLY__KIND_WRITE_CLOSED: kind = .writeClosed(try WriteClosed(c: m.pointee.write_closed))
    case CARAVAN__V1__APP_REPLY__KIND_ROWS: kind = .rows(try RowPage(c: m.pointee.rows))
    case CARAVAN__V1__APP_REPLY__KIND_OBJECT_BYTES: kind = .objectBytes(try ObjectBytes(c: m.pointee.object_bytes))
    case CARAVAN__V1__APP_REPLY__KIND_AFFECTED: kind = .affected(try Affected(c: m.pointee.affected))
    case CARAVAN__V1__APP_REPLY__KIND_CONFLICTS: kind = .conflicts(try ConflictPage(c: m.pointee.conflicts))
    case CARAVAN__V1__APP_REPLY__KIND_STATUS: kind = .status(try AgentStatus(c: m.pointee.status))
    case CARAVAN__V1__APP_REPLY__KIND_UPCALL: kind = .upcall(try Upcall(c: m.pointee.upcall))
    case CARAVAN__V1__APP_REPLY__KIND_SYNC_EVENT: kind = .syncEvent(try SyncEvent(c: m.pointee.sync_event))
    case CARAVAN__V1__APP_REPLY__KIND_APPS: kind = .apps(try AppList(c: m.pointee.apps))
    case CARAVAN__V1__APP_REPLY__KIND_CLOUD_ROWS: kind = .cloudRows(try CloudRows(c: m.pointee.cloud_rows))
    case CARAVAN__V1__APP_REPLY__KIND_SUBSCRIPTIONS:
      kind = .subscriptions(try SubscriptionsReply(c: m.pointee.subscriptions))
    case CARAVAN__V1__APP_REPLY__KIND_FOUND_RECORDS: kind = .foundRecords(try FoundRecords(c: m.pointee.found_records))
    case CARAVAN__V1__APP_REPLY__KIND_RESERVED_NUMBERS:
      kind = .reservedNumbers(try ReservedNumbers(c: m.pointee.reserved_numbers))
    case CARAVAN__V1__APP_REPLY__KIND_CHANGED_RECORDS:
      kind = .changedRecords(try ChangedRecords(c: m.pointee.changed_records))
    case CARAVAN__V1__APP_REPLY__KIND_PUSH_TARGETS: kind = .pushTargets(try PushTargetsReply(c: m.pointee.push_targets))
    case CARAVAN__V1__APP_REPLY__KIND_LIVE_PART: kind = .livePart(try LivePart(c: m.pointee.live_part))
    default: kind = nil
    }
  }

  static let shape = 120

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__app_reply__get_packed_size(m)) { caravan__v1__app_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__app_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AppHello: WireMessage, Equatable {
  public var app: String
  public var token: String
  public var owner: Bool
  public var knowsLists: Bool

  public init(
    app: String = "",
    token: String = "",
    owner: Bool = false,
    knowsLists: Bool = false
  ) {
    self.app = app
    self.token = token
    self.owner = owner
    self.knowsLists = knowsLists
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AppHello> {
    let m = arena.make(Caravan__V1__AppHello.self, caravan__v1__app_hello__init)
    if !app.isEmpty { m.pointee.app = arena.string(app) }
    if !token.isEmpty { m.pointee.token = arena.string(token) }
    if owner { m.pointee.has_owner = 1; m.pointee.owner = owner ? 1 : 0 }
    if knowsLists { m.pointee.has_knows_lists = 1; m.pointee.knows_lists = knowsLists ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AppHello>) throws(WireError) {
    app = try copyText(m.pointee.app)
    token = try copyText(m.pointee.token)
    owner = m.pointee.has_owner != 0 ? m.pointee.owner != 0 : false
    knowsLists = m.pointee.has_knows_lists != 0 ? m.pointee.knows_lists != 0 : false
  }

  static let shape = 121

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__app_hello__get_packed_size(m)) { caravan__v1__app_hello__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__app_hello__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AllowApp: WireMessage, Equatable {
  public var app: String
  public var uid: UInt32

  public init(
    app: String = "",
    uid: UInt32 = 0
  ) {
    self.app = app
    self.uid = uid
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AllowApp> {
    let m = arena.make(Caravan__V1__AllowApp.self, caravan__v1__allow_app__init)
    if !app.isEmpty { m.pointee.app = arena.string(app) }
    if uid != 0 { m.pointee.has_uid = 1; m.pointee.uid = uid }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AllowApp>) throws(WireError) {
    app = try copyText(m.pointee.app)
    uid = m.pointee.has_uid != 0 ? m.pointee.uid : 0
  }

  static let shape = 122

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__allow_app__get_packed_size(m)) { caravan__v1__allow_app__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__allow_app__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AppName: WireMessage, Equatable {
  public var app: String

  public init(
    app: String = ""
  ) {
    self.app = app
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AppName> {
    let m = arena.make(Caravan__V1__AppName.self, caravan__v1__app_name__init)
    if !app.isEmpty { m.pointee.app = arena.string(app) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AppName>) throws(WireError) {
    app = try copyText(m.pointee.app)
  }

  static let shape = 123

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__app_name__get_packed_size(m)) { caravan__v1__app_name__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__app_name__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AppList: WireMessage, Equatable {
  public var apps: [AppEntry]

  public init(
    apps: [AppEntry] = []
  ) {
    self.apps = apps
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AppList> {
    let m = arena.make(Caravan__V1__AppList.self, caravan__v1__app_list__init)
    (m.pointee.n_apps, m.pointee.apps) = arena.messages(apps) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AppList>) throws(WireError) {
    apps = try copyMessages(m.pointee.n_apps, m.pointee.apps) { (p) throws(WireError) in try AppEntry(c: p) }
  }

  static let shape = 124

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__app_list__get_packed_size(m)) { caravan__v1__app_list__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__app_list__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AppEntry: WireMessage, Equatable {
  public var app: String
  public var uid: UInt32
  public var standing: AppStanding

  public init(
    app: String = "",
    uid: UInt32 = 0,
    standing: AppStanding = .unspecified
  ) {
    self.app = app
    self.uid = uid
    self.standing = standing
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AppEntry> {
    let m = arena.make(Caravan__V1__AppEntry.self, caravan__v1__app_entry__init)
    if !app.isEmpty { m.pointee.app = arena.string(app) }
    if uid != 0 { m.pointee.has_uid = 1; m.pointee.uid = uid }
    if standing != .unspecified { m.pointee.has_standing = 1; m.pointee.standing = standing.c }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AppEntry>) throws(WireError) {
    app = try copyText(m.pointee.app)
    uid = m.pointee.has_uid != 0 ? m.pointee.uid : 0
    standing = m.pointee.has_standing != 0 ? AppStanding(c: m.pointee.standing) : .unspecified
  }

  static let shape = 125

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__app_entry__get_packed_size(m)) { caravan__v1__app_entry__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__app_entry__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AppWelcome: WireMessage, Equatable {
  public var token: String
  public var maxMessageBytes: UInt32
  public var knowsLists: Bool

  public init(
    token: String = "",
    maxMessageBytes: UInt32 = 0,
    knowsLists: Bool = false
  ) {
    self.token = token
    self.maxMessageBytes = maxMessageBytes
    self.knowsLists = knowsLists
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AppWelcome> {
    let m = arena.make(Caravan__V1__AppWelcome.self, caravan__v1__app_welcome__init)
    if !token.isEmpty { m.pointee.token = arena.string(token) }
    if maxMessageBytes != 0 { m.pointee.has_max_message_bytes = 1; m.pointee.max_message_bytes = maxMessageBytes }
    if knowsLists { m.pointee.has_knows_lists = 1; m.pointee.knows_lists = knowsLists ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AppWelcome>) throws(WireError) {
    token = try copyText(m.pointee.token)
    maxMessageBytes = m.pointee.has_max_message_bytes != 0 ? m.pointee.max_message_bytes : 0
    knowsLists = m.pointee.has_knows_lists != 0 ? m.pointee.knows_lists != 0 : false
  }

  static let shape = 126

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__app_welcome__get_packed_size(m)) { caravan__v1__app_welcome__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__app_welcome__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Replication: WireMessage, Equatable {
  public var sync: TableSync
  public var recentRows: UInt64
  public var recentMilliseconds: UInt64
  public var query: Selection?

  public init(
    sync: TableSync = .full,
    recentRows: UInt64 = 0,
    recentMilliseconds: UInt64 = 0,
    query: Selection? = nil
  ) {
    self.sync = sync
    self.recentRows = recentRows
    self.recentMilliseconds = recentMilliseconds
    self.query = query
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Replication> {
    let m = arena.make(Caravan__V1__Replication.self, caravan__v1__replication__init)
    if sync != .full { m.pointee.has_sync = 1; m.pointee.sync = sync.c }
    if recentRows != 0 { m.pointee.has_recent_rows = 1; m.pointee.recent_rows = recentRows }
    if recentMilliseconds != 0 {
      m.pointee.has_recent_milliseconds = 1
      m.pointee.recent_milliseconds = recentMilliseconds
    }
    if let query { m.pointee.query = query.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Replication>) throws(WireError) {
    sync = m.pointee.has_sync != 0 ? TableSync(c: m.pointee.sync) : .full
    recentRows = m.pointee.has_recent_rows != 0 ? m.pointee.recent_rows : 0
    recentMilliseconds = m.pointee.has_recent_milliseconds != 0 ? m.pointee.recent_milliseconds : 0
    query = if let p = m.pointee.query { try Selection(c: p) } else { nil }
  }

  static let shape = 127

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__replication__get_packed_size(m)) { caravan__v1__replication__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__replication__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ObjectFetch: WireMessage, Equatable {
  public var column: String
  public var policy: FetchPolicy

  public init(
    column: String = "",
    policy: FetchPolicy = .eager
  ) {
    self.column = column
    self.policy = policy
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ObjectFetch> {
    let m = arena.make(Caravan__V1__ObjectFetch.self, caravan__v1__object_fetch__init)
    if !column.isEmpty { m.pointee.column = arena.string(column) }
    if policy != .eager { m.pointee.has_policy = 1; m.pointee.policy = policy.c }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ObjectFetch>) throws(WireError) {
    column = try copyText(m.pointee.column)
    policy = m.pointee.has_policy != 0 ? FetchPolicy(c: m.pointee.policy) : .eager
  }

  static let shape = 128

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__object_fetch__get_packed_size(m)) { caravan__v1__object_fetch__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__object_fetch__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TableProperties: WireMessage, Equatable {
  public var replication: Replication?
  public var mode: StoreMode
  public var fetch: [ObjectFetch]
  public var consistency: Consistency

  public init(
    replication: Replication? = nil,
    mode: StoreMode = .unspecified,
    fetch: [ObjectFetch] = [],
    consistency: Consistency = .unspecified
  ) {
    self.replication = replication
    self.mode = mode
    self.fetch = fetch
    self.consistency = consistency
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TableProperties> {
    let m = arena.make(Caravan__V1__TableProperties.self, caravan__v1__table_properties__init)
    if let replication { m.pointee.replication = replication.pack(into: &arena) }
    if mode != .unspecified { m.pointee.has_mode = 1; m.pointee.mode = mode.c }
    (m.pointee.n_fetch, m.pointee.fetch) = arena.messages(fetch) { $0.pack(into: &$1) }
    if consistency != .unspecified { m.pointee.has_consistency = 1; m.pointee.consistency = consistency.c }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TableProperties>) throws(WireError) {
    replication = if let p = m.pointee.replication { try Replication(c: p) } else { nil }
    mode = m.pointee.has_mode != 0 ? StoreMode(c: m.pointee.mode) : .unspecified
    fetch = try copyMessages(m.pointee.n_fetch, m.pointee.fetch) { (p) throws(WireError) in try ObjectFetch(c: p) }
    consistency = m.pointee.has_consistency != 0 ? Consistency(c: m.pointee.consistency) : .unspecified
  }

  static let shape = 129

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__table_properties__get_packed_size(m)) { caravan__v1__table_properties__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__table_properties__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CreateTable: WireMessage, Equatable {
  public var table: String
  public var schema: String
  public var sync: TableSync
  public var properties: TableProperties?

  public init(
    table: String = "",
    schema: String = "",
    sync: TableSync = .full,
    properties: TableProperties? = nil
  ) {
    self.table = table
    self.schema = schema
    self.sync = sync
    self.properties = properties
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CreateTable> {
    let m = arena.make(Caravan__V1__CreateTable.self, caravan__v1__create_table__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if !schema.isEmpty { m.pointee.schema = arena.string(schema) }
    if sync != .full { m.pointee.has_sync = 1; m.pointee.sync = sync.c }
    if let properties { m.pointee.properties = properties.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CreateTable>) throws(WireError) {
    table = try copyText(m.pointee.table)
    schema = try copyText(m.pointee.schema)
    sync = m.pointee.has_sync != 0 ? TableSync(c: m.pointee.sync) : .full
    properties = if let p = m.pointee.properties { try TableProperties(c: p) } else { nil }
  }

  static let shape = 130

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__create_table__get_packed_size(m)) { caravan__v1__create_table__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__create_table__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct UpdateTable: WireMessage, Equatable {
  public var table: String
  public var properties: TableProperties?

  public init(
    table: String = "",
    properties: TableProperties? = nil
  ) {
    self.table = table
    self.properties = properties
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__UpdateTable> {
    let m = arena.make(Caravan__V1__UpdateTable.self, caravan__v1__update_table__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if let properties { m.pointee.properties = properties.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__UpdateTable>) throws(WireError) {
    table = try copyText(m.pointee.table)
    properties = if let p = m.pointee.properties { try TableProperties(c: p) } else { nil }
  }

  static let shape = 131

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__update_table__get_packed_size(m)) { caravan__v1__update_table__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__update_table__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ResetTable: WireMessage, Equatable {
  public var table: String
  public var choice: ResetChoice
  public var discardUnsent: Bool

  public init(
    table: String = "",
    choice: ResetChoice = .unspecified,
    discardUnsent: Bool = false
  ) {
    self.table = table
    self.choice = choice
    self.discardUnsent = discardUnsent
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ResetTable> {
    let m = arena.make(Caravan__V1__ResetTable.self, caravan__v1__reset_table__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if choice != .unspecified { m.pointee.has_choice = 1; m.pointee.choice = choice.c }
    if discardUnsent { m.pointee.has_discard_unsent = 1; m.pointee.discard_unsent = discardUnsent ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ResetTable>) throws(WireError) {
    table = try copyText(m.pointee.table)
    choice = m.pointee.has_choice != 0 ? ResetChoice(c: m.pointee.choice) : .unspecified
    discardUnsent = m.pointee.has_discard_unsent != 0 ? m.pointee.discard_unsent != 0 : false
  }

  static let shape = 132

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__reset_table__get_packed_size(m)) { caravan__v1__reset_table__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__reset_table__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DropLocalTable: WireMessage, Equatable {
  public var table: String
  public var discardUnsent: Bool

  public init(
    table: String = "",
    discardUnsent: Bool = false
  ) {
    self.table = table
    self.discardUnsent = discardUnsent
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DropLocalTable> {
    let m = arena.make(Caravan__V1__DropLocalTable.self, caravan__v1__drop_local_table__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if discardUnsent { m.pointee.has_discard_unsent = 1; m.pointee.discard_unsent = discardUnsent ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DropLocalTable>) throws(WireError) {
    table = try copyText(m.pointee.table)
    discardUnsent = m.pointee.has_discard_unsent != 0 ? m.pointee.discard_unsent != 0 : false
  }

  static let shape = 133

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__drop_local_table__get_packed_size(m)) { caravan__v1__drop_local_table__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__drop_local_table__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Watch: WireMessage, Equatable {
  public var table: String
  public var after: UInt64
  public var saysTaken: Bool

  public init(
    table: String = "",
    after: UInt64 = 0,
    saysTaken: Bool = false
  ) {
    self.table = table
    self.after = after
    self.saysTaken = saysTaken
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Watch> {
    let m = arena.make(Caravan__V1__Watch.self, caravan__v1__watch__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if after != 0 { m.pointee.has_after = 1; m.pointee.after = after }
    if saysTaken { m.pointee.has_says_taken = 1; m.pointee.says_taken = saysTaken ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Watch>) throws(WireError) {
    table = try copyText(m.pointee.table)
    after = m.pointee.has_after != 0 ? m.pointee.after : 0
    saysTaken = m.pointee.has_says_taken != 0 ? m.pointee.says_taken != 0 : false
  }

  static let shape = 134

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__watch__get_packed_size(m)) { caravan__v1__watch__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__watch__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TakenUpcalls: WireMessage, Equatable {
  public var table: String
  public var number: UInt64

  public init(
    table: String = "",
    number: UInt64 = 0
  ) {
    self.table = table
    self.number = number
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TakenUpcalls> {
    let m = arena.make(Caravan__V1__TakenUpcalls.self, caravan__v1__taken_upcalls__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TakenUpcalls>) throws(WireError) {
    table = try copyText(m.pointee.table)
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
  }

  static let shape = 135

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__taken_upcalls__get_packed_size(m)) { caravan__v1__taken_upcalls__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__taken_upcalls__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TableName: WireMessage, Equatable {
  public var table: String

  public init(
    table: String = ""
  ) {
    self.table = table
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TableName> {
    let m = arena.make(Caravan__V1__TableName.self, caravan__v1__table_name__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TableName>) throws(WireError) {
    table = try copyText(m.pointee.table)
  }

  static let shape = 136

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__table_name__get_packed_size(m)) { caravan__v1__table_name__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__table_name__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Cell: WireMessage, Equatable {
  public enum Value: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case real(Double)
    case data([UInt8])
    case location(Location)
    case reference(Reference)
    case list(ListValue)
  }

  public var column: String
  public var value: Value?

  public init(
    column: String = "",
    value: Value? = nil
  ) {
    self.column = column
    self.value = value
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Cell> {
    let m = arena.make(Caravan__V1__Cell.self, caravan__v1__cell__init)
    if !column.isEmpty { m.pointee.column = arena.string(column) }
    switch value {
    case .text(let value):
      m.pointee.value_case = CARAVAN__V1__CELL__VALUE_TEXT
      m.pointee.text = arena.string(value)
    case .integer(let value):
      m.pointee.value_case = CARAVAN__V1__CELL__VALUE_INTEGER
      m.pointee.integer = value
    case .real(let value):
      m.pointee.value_case = CARAVAN__V1__CELL__VALUE_REAL
      m.pointee.real = value
    case .data(let value):
      m.pointee.value_case = CARAVAN__V1__CELL__VALUE_DATA
      m.pointee.data = arena.bytes(value)
    case .location(let value):
      m.pointee.value_case = CARAVAN__V1__CELL__VALUE_LOCATION
      m.pointee.location = value.pack(into: &arena)
    case .reference(let value):
      m.pointee.value_case = CARAVAN__V1__CELL__VALUE_REFERENCE
      m.pointee.reference = value.pack(into: &arena)
    case .list(let value):
      m.pointee.value_case = CARAVAN__V1__CELL__VALUE_LIST
      m.pointee.list = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Cell>) throws(WireError) {
    column = try copyText(m.pointee.column)
    switch m.pointee.value_case {
    case CARAVAN__V1__CELL__VALUE_TEXT: value = .text(try copyText(m.pointee.text))
    case CARAVAN__V1__CELL__VALUE_INTEGER: value = .integer(m.pointee.integer)
    case CARAVAN__V1__CELL__VALUE_REAL: value = .real(m.pointee.real)
    case CARAVAN__V1__CELL__VALUE_DATA: value = .data(copyBytes(m.pointee.data))
    case CARAVAN__V1__CELL__VALUE_LOCATION: value = .location(try Location(c: m.pointee.location))
    case CARAVAN__V1__CELL__VALUE_REFERENCE: value = .reference(try Reference(c: m.pointee.reference))
    case CARAVAN__V1__CELL__VALUE_LIST: value = .list(try ListValue(c: m.pointee.list))
    default: value = nil
    }
  }

  static let shape = 137

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__cell__get_packed_size(m)) { caravan__v1__cell__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__cell__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Selection: WireMessage, Equatable {
  public var text: String
  public var arguments: [Cell]

  public init(
    text: String = "",
    arguments: [Cell] = []
  ) {
    self.text = text
    self.arguments = arguments
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Selection> {
    let m = arena.make(Caravan__V1__Selection.self, caravan__v1__selection__init)
    if !text.isEmpty { m.pointee.text = arena.string(text) }
    (m.pointee.n_arguments, m.pointee.arguments) = arena.messages(arguments) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Selection>) throws(WireError) {
    text = try copyText(m.pointee.text)
    arguments = try copyMessages(m.pointee.n_arguments, m.pointee.arguments) { (p) throws(WireError) in try Cell(c: p) }
  }

  static let shape = 138

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__selection__get_packed_size(m)) { caravan__v1__selection__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__selection__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct BeginWrite: WireMessage, Equatable {
  public var table: String
  public var cells: [Cell]
  public var objects: [String]
  public var selection: Selection?
  public var contents: [ObjectContent]
  public var intent: WriteIntent?
  public var hold: Bool
  public var deletion: Bool

  public init(
    table: String = "",
    cells: [Cell] = [],
    objects: [String] = [],
    selection: Selection? = nil,
    contents: [ObjectContent] = [],
    intent: WriteIntent? = nil,
    hold: Bool = false,
    deletion: Bool = false
  ) {
    self.table = table
    self.cells = cells
    self.objects = objects
    self.selection = selection
    self.contents = contents
    self.intent = intent
    self.hold = hold
    self.deletion = deletion
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__BeginWrite> {
    let m = arena.make(Caravan__V1__BeginWrite.self, caravan__v1__begin_write__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    (m.pointee.n_cells, m.pointee.cells) = arena.messages(cells) { $0.pack(into: &$1) }
    (m.pointee.n_objects, m.pointee.objects) = arena.strings(objects)
    if let selection { m.pointee.selection = selection.pack(into: &arena) }
    (m.pointee.n_contents, m.pointee.contents) = arena.messages(contents) { $0.pack(into: &$1) }
    if let intent { m.pointee.intent = intent.pack(into: &arena) }
    if hold { m.pointee.has_hold = 1; m.pointee.hold = hold ? 1 : 0 }
    if deletion { m.pointee.has_deletion = 1; m.pointee.deletion = deletion ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__BeginWrite>) throws(WireError) {
    table = try copyText(m.pointee.table)
    cells = try copyMessages(m.pointee.n_cells, m.pointee.cells) { (p) throws(WireError) in try Cell(c: p) }
    objects = try copyStrings(m.pointee.n_objects, m.pointee.objects)
    selection = if let p = m.pointee.selection { try Selection(c: p) } else { nil }
    contents = try copyMessages(m.pointee.n_contents, m.pointee.contents) { (p) throws(WireError) in
      try ObjectContent(c: p)
    }
    intent = if let p = m.pointee.intent { try WriteIntent(c: p) } else { nil }
    hold = m.pointee.has_hold != 0 ? m.pointee.hold != 0 : false
    deletion = m.pointee.has_deletion != 0 ? m.pointee.deletion != 0 : false
  }

  static let shape = 139

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__begin_write__get_packed_size(m)) { caravan__v1__begin_write__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__begin_write__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct WriteIntent: WireMessage, Equatable {
  public var hasDeadline: Bool
  public var withinMilliseconds: UInt32
  public var loss: WriteLoss
  public var timeToLiveMilliseconds: UInt32

  public init(
    hasDeadline: Bool = false,
    withinMilliseconds: UInt32 = 0,
    loss: WriteLoss = .asRegistered,
    timeToLiveMilliseconds: UInt32 = 0
  ) {
    self.hasDeadline = hasDeadline
    self.withinMilliseconds = withinMilliseconds
    self.loss = loss
    self.timeToLiveMilliseconds = timeToLiveMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__WriteIntent> {
    let m = arena.make(Caravan__V1__WriteIntent.self, caravan__v1__write_intent__init)
    if hasDeadline { m.pointee.has_has_deadline = 1; m.pointee.has_deadline = hasDeadline ? 1 : 0 }
    if withinMilliseconds != 0 {
      m.pointee.has_within_milliseconds = 1
      m.pointee.within_milliseconds = withinMilliseconds
    }
    if loss != .asRegistered { m.pointee.has_loss = 1; m.pointee.loss = loss.c }
    if timeToLiveMilliseconds != 0 {
      m.pointee.has_time_to_live_milliseconds = 1
      m.pointee.time_to_live_milliseconds = timeToLiveMilliseconds
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__WriteIntent>) throws(WireError) {
    hasDeadline = m.pointee.has_has_deadline != 0 ? m.pointee.has_deadline != 0 : false
    withinMilliseconds = m.pointee.has_within_milliseconds != 0 ? m.pointee.within_milliseconds : 0
    loss = m.pointee.has_loss != 0 ? WriteLoss(c: m.pointee.loss) : .asRegistered
    timeToLiveMilliseconds = m.pointee.has_time_to_live_milliseconds != 0 ? m.pointee.time_to_live_milliseconds : 0
  }

  static let shape = 140

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__write_intent__get_packed_size(m)) { caravan__v1__write_intent__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__write_intent__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ObjectContent: WireMessage, Equatable {
  public var object: String
  public var data: [UInt8]

  public init(
    object: String = "",
    data: [UInt8] = []
  ) {
    self.object = object
    self.data = data
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ObjectContent> {
    let m = arena.make(Caravan__V1__ObjectContent.self, caravan__v1__object_content__init)
    if !object.isEmpty { m.pointee.object = arena.string(object) }
    if !data.isEmpty { m.pointee.has_data = 1; m.pointee.data = arena.bytes(data) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ObjectContent>) throws(WireError) {
    object = try copyText(m.pointee.object)
    data = m.pointee.has_data != 0 ? copyBytes(m.pointee.data) : []
  }

  static let shape = 141

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__object_content__get_packed_size(m)) { caravan__v1__object_content__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__object_content__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct WriteOpened: WireMessage, Equatable {
  public var write: UInt64
  public var rows: [String]
  public var promise: WriteClass

  public init(
    write: UInt64 = 0,
    rows: [String] = [],
    promise: WriteClass = .durable
  ) {
    self.write = write
    self.rows = rows
    self.promise = promise
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__WriteOpened> {
    let m = arena.make(Caravan__V1__WriteOpened.self, caravan__v1__write_opened__init)
    if write != 0 { m.pointee.has_write = 1; m.pointee.write = write }
    (m.pointee.n_rows, m.pointee.rows) = arena.strings(rows)
    if promise != .durable { m.pointee.has_promise = 1; m.pointee.promise = promise.c }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__WriteOpened>) throws(WireError) {
    write = m.pointee.has_write != 0 ? m.pointee.write : 0
    rows = try copyStrings(m.pointee.n_rows, m.pointee.rows)
    promise = m.pointee.has_promise != 0 ? WriteClass(c: m.pointee.promise) : .durable
  }

  static let shape = 142

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__write_opened__get_packed_size(m)) { caravan__v1__write_opened__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__write_opened__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct WriteObject: WireMessage, Equatable {
  public var write: UInt64
  public var row: UInt32
  public var object: String
  public var offset: UInt64
  public var data: [UInt8]
  public var more: Bool

  public init(
    write: UInt64 = 0,
    row: UInt32 = 0,
    object: String = "",
    offset: UInt64 = 0,
    data: [UInt8] = [],
    more: Bool = false
  ) {
    self.write = write
    self.row = row
    self.object = object
    self.offset = offset
    self.data = data
    self.more = more
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__WriteObject> {
    let m = arena.make(Caravan__V1__WriteObject.self, caravan__v1__write_object__init)
    if write != 0 { m.pointee.has_write = 1; m.pointee.write = write }
    if row != 0 { m.pointee.has_row = 1; m.pointee.row = row }
    if !object.isEmpty { m.pointee.object = arena.string(object) }
    if offset != 0 { m.pointee.has_offset = 1; m.pointee.offset = offset }
    if !data.isEmpty { m.pointee.has_data = 1; m.pointee.data = arena.bytes(data) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__WriteObject>) throws(WireError) {
    write = m.pointee.has_write != 0 ? m.pointee.write : 0
    row = m.pointee.has_row != 0 ? m.pointee.row : 0
    object = try copyText(m.pointee.object)
    offset = m.pointee.has_offset != 0 ? m.pointee.offset : 0
    data = m.pointee.has_data != 0 ? copyBytes(m.pointee.data) : []
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
  }

  static let shape = 143

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__write_object__get_packed_size(m)) { caravan__v1__write_object__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__write_object__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TruncateObject: WireMessage, Equatable {
  public var write: UInt64
  public var row: UInt32
  public var object: String
  public var size: UInt64

  public init(
    write: UInt64 = 0,
    row: UInt32 = 0,
    object: String = "",
    size: UInt64 = 0
  ) {
    self.write = write
    self.row = row
    self.object = object
    self.size = size
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TruncateObject> {
    let m = arena.make(Caravan__V1__TruncateObject.self, caravan__v1__truncate_object__init)
    if write != 0 { m.pointee.has_write = 1; m.pointee.write = write }
    if row != 0 { m.pointee.has_row = 1; m.pointee.row = row }
    if !object.isEmpty { m.pointee.object = arena.string(object) }
    if size != 0 { m.pointee.has_size = 1; m.pointee.size = size }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TruncateObject>) throws(WireError) {
    write = m.pointee.has_write != 0 ? m.pointee.write : 0
    row = m.pointee.has_row != 0 ? m.pointee.row : 0
    object = try copyText(m.pointee.object)
    size = m.pointee.has_size != 0 ? m.pointee.size : 0
  }

  static let shape = 144

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__truncate_object__get_packed_size(m)) { caravan__v1__truncate_object__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__truncate_object__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CloseWrite: WireMessage, Equatable {
  public var writes: [UInt64]
  public var abandon: Bool
  public var atomic: Bool

  public init(
    writes: [UInt64] = [],
    abandon: Bool = false,
    atomic: Bool = false
  ) {
    self.writes = writes
    self.abandon = abandon
    self.atomic = atomic
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CloseWrite> {
    let m = arena.make(Caravan__V1__CloseWrite.self, caravan__v1__close_write__init)
    (m.pointee.n_writes, m.pointee.writes) = arena.scalars(writes)
    if abandon { m.pointee.has_abandon = 1; m.pointee.abandon = abandon ? 1 : 0 }
    if atomic { m.pointee.has_atomic = 1; m.pointee.atomic = atomic ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CloseWrite>) throws(WireError) {
    writes = copyScalars(m.pointee.n_writes, m.pointee.writes)
    abandon = m.pointee.has_abandon != 0 ? m.pointee.abandon != 0 : false
    atomic = m.pointee.has_atomic != 0 ? m.pointee.atomic != 0 : false
  }

  static let shape = 145

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__close_write__get_packed_size(m)) { caravan__v1__close_write__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__close_write__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct WriteClosed: WireMessage, Equatable {
  public var rows: [String]
  public var promise: WriteClass

  public init(
    rows: [String] = [],
    promise: WriteClass = .durable
  ) {
    self.rows = rows
    self.promise = promise
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__WriteClosed> {
    let m = arena.make(Caravan__V1__WriteClosed.self, caravan__v1__write_closed__init)
    (m.pointee.n_rows, m.pointee.rows) = arena.strings(rows)
    if promise != .durable { m.pointee.has_promise = 1; m.pointee.promise = promise.c }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__WriteClosed>) throws(WireError) {
    rows = try copyStrings(m.pointee.n_rows, m.pointee.rows)
    promise = m.pointee.has_promise != 0 ? WriteClass(c: m.pointee.promise) : .durable
  }

  static let shape = 146

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__write_closed__get_packed_size(m)) { caravan__v1__write_closed__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__write_closed__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Select: WireMessage, Equatable {
  public var table: String
  public var columns: [String]
  public var selection: Selection?
  public var order: [OrderBy]
  public var pageRows: UInt32
  public var hold: Bool
  public var aside: Bool
  public var authorship: Bool

  public init(
    table: String = "",
    columns: [String] = [],
    selection: Selection? = nil,
    order: [OrderBy] = [],
    pageRows: UInt32 = 0,
    hold: Bool = false,
    aside: Bool = false,
    authorship: Bool = false
  ) {
    self.table = table
    self.columns = columns
    self.selection = selection
    self.order = order
    self.pageRows = pageRows
    self.hold = hold
    self.aside = aside
    self.authorship = authorship
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Select> {
    let m = arena.make(Caravan__V1__Select.self, caravan__v1__select__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    (m.pointee.n_columns, m.pointee.columns) = arena.strings(columns)
    if let selection { m.pointee.selection = selection.pack(into: &arena) }
    (m.pointee.n_order, m.pointee.order) = arena.messages(order) { $0.pack(into: &$1) }
    if pageRows != 0 { m.pointee.has_page_rows = 1; m.pointee.page_rows = pageRows }
    if hold { m.pointee.has_hold = 1; m.pointee.hold = hold ? 1 : 0 }
    if aside { m.pointee.has_aside = 1; m.pointee.aside = aside ? 1 : 0 }
    if authorship { m.pointee.has_authorship = 1; m.pointee.authorship = authorship ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Select>) throws(WireError) {
    table = try copyText(m.pointee.table)
    columns = try copyStrings(m.pointee.n_columns, m.pointee.columns)
    selection = if let p = m.pointee.selection { try Selection(c: p) } else { nil }
    order = try copyMessages(m.pointee.n_order, m.pointee.order) { (p) throws(WireError) in try OrderBy(c: p) }
    pageRows = m.pointee.has_page_rows != 0 ? m.pointee.page_rows : 0
    hold = m.pointee.has_hold != 0 ? m.pointee.hold != 0 : false
    aside = m.pointee.has_aside != 0 ? m.pointee.aside != 0 : false
    authorship = m.pointee.has_authorship != 0 ? m.pointee.authorship != 0 : false
  }

  static let shape = 147

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__select__get_packed_size(m)) { caravan__v1__select__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__select__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct OrderBy: WireMessage, Equatable {
  public var column: String
  public var descending: Bool
  public var near: Location?

  public init(
    column: String = "",
    descending: Bool = false,
    near: Location? = nil
  ) {
    self.column = column
    self.descending = descending
    self.near = near
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__OrderBy> {
    let m = arena.make(Caravan__V1__OrderBy.self, caravan__v1__order_by__init)
    if !column.isEmpty { m.pointee.column = arena.string(column) }
    if descending { m.pointee.has_descending = 1; m.pointee.descending = descending ? 1 : 0 }
    if let near { m.pointee.near = near.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__OrderBy>) throws(WireError) {
    column = try copyText(m.pointee.column)
    descending = m.pointee.has_descending != 0 ? m.pointee.descending != 0 : false
    near = if let p = m.pointee.near { try Location(c: p) } else { nil }
  }

  static let shape = 148

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__order_by__get_packed_size(m)) { caravan__v1__order_by__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__order_by__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct QueryCloud: WireMessage, Equatable {
  public var table: String
  public var publicDatabase: Bool
  public var selection: Selection?
  public var order: [OrderBy]
  public var limit: UInt32
  public var cursor: [UInt8]
  public var columns: [String]
  public var counts: Bool
  public var zone: String

  public init(
    table: String = "",
    publicDatabase: Bool = false,
    selection: Selection? = nil,
    order: [OrderBy] = [],
    limit: UInt32 = 0,
    cursor: [UInt8] = [],
    columns: [String] = [],
    counts: Bool = false,
    zone: String = ""
  ) {
    self.table = table
    self.publicDatabase = publicDatabase
    self.selection = selection
    self.order = order
    self.limit = limit
    self.cursor = cursor
    self.columns = columns
    self.counts = counts
    self.zone = zone
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__QueryCloud> {
    let m = arena.make(Caravan__V1__QueryCloud.self, caravan__v1__query_cloud__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if publicDatabase { m.pointee.has_public_database = 1; m.pointee.public_database = publicDatabase ? 1 : 0 }
    if let selection { m.pointee.selection = selection.pack(into: &arena) }
    (m.pointee.n_order, m.pointee.order) = arena.messages(order) { $0.pack(into: &$1) }
    if limit != 0 { m.pointee.has_limit = 1; m.pointee.limit = limit }
    if !cursor.isEmpty { m.pointee.has_cursor = 1; m.pointee.cursor = arena.bytes(cursor) }
    (m.pointee.n_columns, m.pointee.columns) = arena.strings(columns)
    if counts { m.pointee.has_counts = 1; m.pointee.counts = counts ? 1 : 0 }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__QueryCloud>) throws(WireError) {
    table = try copyText(m.pointee.table)
    publicDatabase = m.pointee.has_public_database != 0 ? m.pointee.public_database != 0 : false
    selection = if let p = m.pointee.selection { try Selection(c: p) } else { nil }
    order = try copyMessages(m.pointee.n_order, m.pointee.order) { (p) throws(WireError) in try OrderBy(c: p) }
    limit = m.pointee.has_limit != 0 ? m.pointee.limit : 0
    cursor = m.pointee.has_cursor != 0 ? copyBytes(m.pointee.cursor) : []
    columns = try copyStrings(m.pointee.n_columns, m.pointee.columns)
    counts = m.pointee.has_counts != 0 ? m.pointee.counts != 0 : false
    zone = try copyText(m.pointee.zone)
  }

  static let shape = 149

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__query_cloud__get_packed_size(m)) { caravan__v1__query_cloud__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__query_cloud__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CloudRow: WireMessage, Equatable {
  public var zone: String
  public var row: Row?

  public init(
    zone: String = "",
    row: Row? = nil
  ) {
    self.zone = zone
    self.row = row
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CloudRow> {
    let m = arena.make(Caravan__V1__CloudRow.self, caravan__v1__cloud_row__init)
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if let row { m.pointee.row = row.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CloudRow>) throws(WireError) {
    zone = try copyText(m.pointee.zone)
    row = if let p = m.pointee.row { try Row(c: p) } else { nil }
  }

  static let shape = 150

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__cloud_row__get_packed_size(m)) { caravan__v1__cloud_row__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__cloud_row__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CloudRows: WireMessage, Equatable {
  public var rows: [CloudRow]
  public var cursor: [UInt8]
  public var count: UInt64

  public init(
    rows: [CloudRow] = [],
    cursor: [UInt8] = [],
    count: UInt64 = 0
  ) {
    self.rows = rows
    self.cursor = cursor
    self.count = count
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CloudRows> {
    let m = arena.make(Caravan__V1__CloudRows.self, caravan__v1__cloud_rows__init)
    (m.pointee.n_rows, m.pointee.rows) = arena.messages(rows) { $0.pack(into: &$1) }
    if !cursor.isEmpty { m.pointee.has_cursor = 1; m.pointee.cursor = arena.bytes(cursor) }
    if count != 0 { m.pointee.has_count = 1; m.pointee.count = count }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CloudRows>) throws(WireError) {
    rows = try copyMessages(m.pointee.n_rows, m.pointee.rows) { (p) throws(WireError) in try CloudRow(c: p) }
    cursor = m.pointee.has_cursor != 0 ? copyBytes(m.pointee.cursor) : []
    count = m.pointee.has_count != 0 ? m.pointee.count : 0
  }

  static let shape = 151

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__cloud_rows__get_packed_size(m)) { caravan__v1__cloud_rows__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__cloud_rows__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FetchRecords: WireMessage, Equatable {
  public var table: String
  public var publicDatabase: Bool
  public var ids: [String]
  public var columns: [String]

  public init(
    table: String = "",
    publicDatabase: Bool = false,
    ids: [String] = [],
    columns: [String] = []
  ) {
    self.table = table
    self.publicDatabase = publicDatabase
    self.ids = ids
    self.columns = columns
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FetchRecords> {
    let m = arena.make(Caravan__V1__FetchRecords.self, caravan__v1__fetch_records__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if publicDatabase { m.pointee.has_public_database = 1; m.pointee.public_database = publicDatabase ? 1 : 0 }
    (m.pointee.n_ids, m.pointee.ids) = arena.strings(ids)
    (m.pointee.n_columns, m.pointee.columns) = arena.strings(columns)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FetchRecords>) throws(WireError) {
    table = try copyText(m.pointee.table)
    publicDatabase = m.pointee.has_public_database != 0 ? m.pointee.public_database != 0 : false
    ids = try copyStrings(m.pointee.n_ids, m.pointee.ids)
    columns = try copyStrings(m.pointee.n_columns, m.pointee.columns)
  }

  static let shape = 152

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__fetch_records__get_packed_size(m)) { caravan__v1__fetch_records__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__fetch_records__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FoundRecords: WireMessage, Equatable {
  public var records: [FoundRecord]

  public init(
    records: [FoundRecord] = []
  ) {
    self.records = records
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FoundRecords> {
    let m = arena.make(Caravan__V1__FoundRecords.self, caravan__v1__found_records__init)
    (m.pointee.n_records, m.pointee.records) = arena.messages(records) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FoundRecords>) throws(WireError) {
    records = try copyMessages(m.pointee.n_records, m.pointee.records) { (p) throws(WireError) in
      try FoundRecord(c: p)
    }
  }

  static let shape = 153

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__found_records__get_packed_size(m)) { caravan__v1__found_records__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__found_records__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FoundRecord: WireMessage, Equatable {
  public var row: Row?
  public var failure: Failure?

  public init(
    row: Row? = nil,
    failure: Failure? = nil
  ) {
    self.row = row
    self.failure = failure
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FoundRecord> {
    let m = arena.make(Caravan__V1__FoundRecord.self, caravan__v1__found_record__init)
    if let row { m.pointee.row = row.pack(into: &arena) }
    if let failure { m.pointee.failure = failure.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FoundRecord>) throws(WireError) {
    row = if let p = m.pointee.row { try Row(c: p) } else { nil }
    failure = if let p = m.pointee.failure { try Failure(c: p) } else { nil }
  }

  static let shape = 154

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__found_record__get_packed_size(m)) { caravan__v1__found_record__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__found_record__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ReserveNumbers: WireMessage, Equatable {
  public var count: UInt32

  public init(
    count: UInt32 = 0
  ) {
    self.count = count
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ReserveNumbers> {
    let m = arena.make(Caravan__V1__ReserveNumbers.self, caravan__v1__reserve_numbers__init)
    if count != 0 { m.pointee.has_count = 1; m.pointee.count = count }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ReserveNumbers>) throws(WireError) {
    count = m.pointee.has_count != 0 ? m.pointee.count : 0
  }

  static let shape = 155

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__reserve_numbers__get_packed_size(m)) { caravan__v1__reserve_numbers__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__reserve_numbers__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ReservedNumbers: WireMessage, Equatable {
  public var epoch: UInt64
  public var first: UInt64

  public init(
    epoch: UInt64 = 0,
    first: UInt64 = 0
  ) {
    self.epoch = epoch
    self.first = first
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ReservedNumbers> {
    let m = arena.make(Caravan__V1__ReservedNumbers.self, caravan__v1__reserved_numbers__init)
    if epoch != 0 { m.pointee.has_epoch = 1; m.pointee.epoch = epoch }
    if first != 0 { m.pointee.has_first = 1; m.pointee.first = first }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ReservedNumbers>) throws(WireError) {
    epoch = m.pointee.has_epoch != 0 ? m.pointee.epoch : 0
    first = m.pointee.has_first != 0 ? m.pointee.first : 0
  }

  static let shape = 156

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__reserved_numbers__get_packed_size(m)) { caravan__v1__reserved_numbers__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__reserved_numbers__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangeRecords: WireMessage, Equatable {
  public var table: String
  public var publicDatabase: Bool
  public var epoch: UInt64
  public var changes: [RecordChange]

  public init(
    table: String = "",
    publicDatabase: Bool = false,
    epoch: UInt64 = 0,
    changes: [RecordChange] = []
  ) {
    self.table = table
    self.publicDatabase = publicDatabase
    self.epoch = epoch
    self.changes = changes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangeRecords> {
    let m = arena.make(Caravan__V1__ChangeRecords.self, caravan__v1__change_records__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if publicDatabase { m.pointee.has_public_database = 1; m.pointee.public_database = publicDatabase ? 1 : 0 }
    if epoch != 0 { m.pointee.has_epoch = 1; m.pointee.epoch = epoch }
    (m.pointee.n_changes, m.pointee.changes) = arena.messages(changes) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangeRecords>) throws(WireError) {
    table = try copyText(m.pointee.table)
    publicDatabase = m.pointee.has_public_database != 0 ? m.pointee.public_database != 0 : false
    epoch = m.pointee.has_epoch != 0 ? m.pointee.epoch : 0
    changes = try copyMessages(m.pointee.n_changes, m.pointee.changes) { (p) throws(WireError) in
      try RecordChange(c: p)
    }
  }

  static let shape = 157

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__change_records__get_packed_size(m)) { caravan__v1__change_records__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__change_records__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RecordChange: WireMessage, Equatable {
  public var number: UInt64
  public var id: String
  public var deletion: Bool
  public var basedOn: UInt64?
  public var cells: [Cell]
  public var expires: UInt64?
  public var ttlMilliseconds: UInt64
  public var objects: UInt64

  public init(
    number: UInt64 = 0,
    id: String = "",
    deletion: Bool = false,
    basedOn: UInt64? = nil,
    cells: [Cell] = [],
    expires: UInt64? = nil,
    ttlMilliseconds: UInt64 = 0,
    objects: UInt64 = 0
  ) {
    self.number = number
    self.id = id
    self.deletion = deletion
    self.basedOn = basedOn
    self.cells = cells
    self.expires = expires
    self.ttlMilliseconds = ttlMilliseconds
    self.objects = objects
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RecordChange> {
    let m = arena.make(Caravan__V1__RecordChange.self, caravan__v1__record_change__init)
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    if !id.isEmpty { m.pointee.id = arena.string(id) }
    if deletion { m.pointee.has_deletion = 1; m.pointee.deletion = deletion ? 1 : 0 }
    if let basedOn { m.pointee.has_based_on = 1; m.pointee.based_on = basedOn }
    (m.pointee.n_cells, m.pointee.cells) = arena.messages(cells) { $0.pack(into: &$1) }
    if let expires { m.pointee.has_expires = 1; m.pointee.expires = expires }
    if ttlMilliseconds != 0 { m.pointee.has_ttl_milliseconds = 1; m.pointee.ttl_milliseconds = ttlMilliseconds }
    if objects != 0 { m.pointee.has_objects = 1; m.pointee.objects = objects }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RecordChange>) throws(WireError) {
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
    id = try copyText(m.pointee.id)
    deletion = m.pointee.has_deletion != 0 ? m.pointee.deletion != 0 : false
    basedOn = m.pointee.has_based_on != 0 ? m.pointee.based_on : nil
    cells = try copyMessages(m.pointee.n_cells, m.pointee.cells) { (p) throws(WireError) in try Cell(c: p) }
    expires = m.pointee.has_expires != 0 ? m.pointee.expires : nil
    ttlMilliseconds = m.pointee.has_ttl_milliseconds != 0 ? m.pointee.ttl_milliseconds : 0
    objects = m.pointee.has_objects != 0 ? m.pointee.objects : 0
  }

  static let shape = 158

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__record_change__get_packed_size(m)) { caravan__v1__record_change__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__record_change__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct OpenObjects: WireMessage, Equatable {
  public var publicDatabase: Bool
  public var objects: [String]

  public init(
    publicDatabase: Bool = false,
    objects: [String] = []
  ) {
    self.publicDatabase = publicDatabase
    self.objects = objects
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__OpenObjects> {
    let m = arena.make(Caravan__V1__OpenObjects.self, caravan__v1__open_objects__init)
    if publicDatabase { m.pointee.has_public_database = 1; m.pointee.public_database = publicDatabase ? 1 : 0 }
    (m.pointee.n_objects, m.pointee.objects) = arena.strings(objects)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__OpenObjects>) throws(WireError) {
    publicDatabase = m.pointee.has_public_database != 0 ? m.pointee.public_database != 0 : false
    objects = try copyStrings(m.pointee.n_objects, m.pointee.objects)
  }

  static let shape = 159

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__open_objects__get_packed_size(m)) { caravan__v1__open_objects__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__open_objects__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangedRecords: WireMessage, Equatable {
  public var outcomes: [RecordOutcome]

  public init(
    outcomes: [RecordOutcome] = []
  ) {
    self.outcomes = outcomes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangedRecords> {
    let m = arena.make(Caravan__V1__ChangedRecords.self, caravan__v1__changed_records__init)
    (m.pointee.n_outcomes, m.pointee.outcomes) = arena.messages(outcomes) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangedRecords>) throws(WireError) {
    outcomes = try copyMessages(m.pointee.n_outcomes, m.pointee.outcomes) { (p) throws(WireError) in
      try RecordOutcome(c: p)
    }
  }

  static let shape = 160

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__changed_records__get_packed_size(m)) { caravan__v1__changed_records__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__changed_records__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RecordOutcome: WireMessage, Equatable {
  public var verdict: RecordVerdict
  public var version: UInt64
  public var row: Row?
  public var failure: Failure?
  public var modifiedMilliseconds: UInt64
  public var modifiedBy: String
  public var objects: [ObjectInfo]

  public init(
    verdict: RecordVerdict = .unspecified,
    version: UInt64 = 0,
    row: Row? = nil,
    failure: Failure? = nil,
    modifiedMilliseconds: UInt64 = 0,
    modifiedBy: String = "",
    objects: [ObjectInfo] = []
  ) {
    self.verdict = verdict
    self.version = version
    self.row = row
    self.failure = failure
    self.modifiedMilliseconds = modifiedMilliseconds
    self.modifiedBy = modifiedBy
    self.objects = objects
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RecordOutcome> {
    let m = arena.make(Caravan__V1__RecordOutcome.self, caravan__v1__record_outcome__init)
    if verdict != .unspecified { m.pointee.has_verdict = 1; m.pointee.verdict = verdict.c }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    if let row { m.pointee.row = row.pack(into: &arena) }
    if let failure { m.pointee.failure = failure.pack(into: &arena) }
    if modifiedMilliseconds != 0 {
      m.pointee.has_modified_milliseconds = 1
      m.pointee.modified_milliseconds = modifiedMilliseconds
    }
    if !modifiedBy.isEmpty { m.pointee.modified_by = arena.string(modifiedBy) }
    (m.pointee.n_objects, m.pointee.objects) = arena.messages(objects) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RecordOutcome>) throws(WireError) {
    verdict = m.pointee.has_verdict != 0 ? RecordVerdict(c: m.pointee.verdict) : .unspecified
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
    row = if let p = m.pointee.row { try Row(c: p) } else { nil }
    failure = if let p = m.pointee.failure { try Failure(c: p) } else { nil }
    modifiedMilliseconds = m.pointee.has_modified_milliseconds != 0 ? m.pointee.modified_milliseconds : 0
    modifiedBy = try copyText(m.pointee.modified_by)
    objects = try copyMessages(m.pointee.n_objects, m.pointee.objects) { (p) throws(WireError) in try ObjectInfo(c: p) }
  }

  static let shape = 161

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__record_outcome__get_packed_size(m)) { caravan__v1__record_outcome__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__record_outcome__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ManageSubscriptions: WireMessage, Equatable {
  public var publicDatabase: Bool
  public var save: StandingQuery?
  public var remove: String

  public init(
    publicDatabase: Bool = false,
    save: StandingQuery? = nil,
    remove: String = ""
  ) {
    self.publicDatabase = publicDatabase
    self.save = save
    self.remove = remove
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ManageSubscriptions> {
    let m = arena.make(Caravan__V1__ManageSubscriptions.self, caravan__v1__manage_subscriptions__init)
    if publicDatabase { m.pointee.has_public_database = 1; m.pointee.public_database = publicDatabase ? 1 : 0 }
    if let save { m.pointee.save = save.pack(into: &arena) }
    if !remove.isEmpty { m.pointee.remove = arena.string(remove) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ManageSubscriptions>) throws(WireError) {
    publicDatabase = m.pointee.has_public_database != 0 ? m.pointee.public_database != 0 : false
    save = if let p = m.pointee.save { try StandingQuery(c: p) } else { nil }
    remove = try copyText(m.pointee.remove)
  }

  static let shape = 162

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__manage_subscriptions__get_packed_size(m)) {
      caravan__v1__manage_subscriptions__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__manage_subscriptions__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct BeginLive: WireMessage, Equatable {
  public var table: String
  public var columns: [String]
  public var selection: Selection?
  public var order: [OrderBy]
  public var limit: UInt32
  public var live: UInt64

  public init(
    table: String = "",
    columns: [String] = [],
    selection: Selection? = nil,
    order: [OrderBy] = [],
    limit: UInt32 = 0,
    live: UInt64 = 0
  ) {
    self.table = table
    self.columns = columns
    self.selection = selection
    self.order = order
    self.limit = limit
    self.live = live
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__BeginLive> {
    let m = arena.make(Caravan__V1__BeginLive.self, caravan__v1__begin_live__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    (m.pointee.n_columns, m.pointee.columns) = arena.strings(columns)
    if let selection { m.pointee.selection = selection.pack(into: &arena) }
    (m.pointee.n_order, m.pointee.order) = arena.messages(order) { $0.pack(into: &$1) }
    if limit != 0 { m.pointee.has_limit = 1; m.pointee.limit = limit }
    if live != 0 { m.pointee.has_live = 1; m.pointee.live = live }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__BeginLive>) throws(WireError) {
    table = try copyText(m.pointee.table)
    columns = try copyStrings(m.pointee.n_columns, m.pointee.columns)
    selection = if let p = m.pointee.selection { try Selection(c: p) } else { nil }
    order = try copyMessages(m.pointee.n_order, m.pointee.order) { (p) throws(WireError) in try OrderBy(c: p) }
    limit = m.pointee.has_limit != 0 ? m.pointee.limit : 0
    live = m.pointee.has_live != 0 ? m.pointee.live : 0
  }

  static let shape = 163

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__begin_live__get_packed_size(m)) { caravan__v1__begin_live__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__begin_live__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LiveRef: WireMessage, Equatable {
  public var live: UInt64

  public init(
    live: UInt64 = 0
  ) {
    self.live = live
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LiveRef> {
    let m = arena.make(Caravan__V1__LiveRef.self, caravan__v1__live_ref__init)
    if live != 0 { m.pointee.has_live = 1; m.pointee.live = live }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LiveRef>) throws(WireError) {
    live = m.pointee.has_live != 0 ? m.pointee.live : 0
  }

  static let shape = 164

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__live_ref__get_packed_size(m)) { caravan__v1__live_ref__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__live_ref__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LivePart: WireMessage, Equatable {
  public var steps: [LiveStep]
  public var more: Bool
  public var restarts: Bool
  public var complete: Bool
  public var refused: Failure?

  public init(
    steps: [LiveStep] = [],
    more: Bool = false,
    restarts: Bool = false,
    complete: Bool = false,
    refused: Failure? = nil
  ) {
    self.steps = steps
    self.more = more
    self.restarts = restarts
    self.complete = complete
    self.refused = refused
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LivePart> {
    let m = arena.make(Caravan__V1__LivePart.self, caravan__v1__live_part__init)
    (m.pointee.n_steps, m.pointee.steps) = arena.messages(steps) { $0.pack(into: &$1) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    if restarts { m.pointee.has_restarts = 1; m.pointee.restarts = restarts ? 1 : 0 }
    if complete { m.pointee.has_complete = 1; m.pointee.complete = complete ? 1 : 0 }
    if let refused { m.pointee.refused = refused.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LivePart>) throws(WireError) {
    steps = try copyMessages(m.pointee.n_steps, m.pointee.steps) { (p) throws(WireError) in try LiveStep(c: p) }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
    restarts = m.pointee.has_restarts != 0 ? m.pointee.restarts != 0 : false
    complete = m.pointee.has_complete != 0 ? m.pointee.complete != 0 : false
    refused = if let p = m.pointee.refused { try Failure(c: p) } else { nil }
  }

  static let shape = 165

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__live_part__get_packed_size(m)) { caravan__v1__live_part__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__live_part__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LiveStep: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case deleted(String)
    case moved(String)
    case inserted(Row)
    case updated(Row)
  }

  public var from: UInt32
  public var to: UInt32
  public var elsewhere: Bool
  public var kind: Kind?

  public init(
    from: UInt32 = 0,
    to: UInt32 = 0,
    elsewhere: Bool = false,
    kind: Kind? = nil
  ) {
    self.from = from
    self.to = to
    self.elsewhere = elsewhere
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LiveStep> {
    let m = arena.make(Caravan__V1__LiveStep.self, caravan__v1__live_step__init)
    if from != 0 { m.pointee.has_from = 1; m.pointee.from = from }
    if to != 0 { m.pointee.has_to = 1; m.pointee.to = to }
    if elsewhere { m.pointee.has_elsewhere = 1; m.pointee.elsewhere = elsewhere ? 1 : 0 }
    switch kind {
    case .deleted(let value):
      m.pointee.kind_case = CARAVAN__V1__LIVE_STEP__KIND_DELETED
      m.pointee.deleted = arena.string(value)
    case .moved(let value):
      m.pointee.kind_case = CARAVAN__V1__LIVE_STEP__KIND_MOVED
      m.pointee.moved = arena.string(value)
    case .inserted(let value):
      m.pointee.kind_case = CARAVAN__V1__LIVE_STEP__KIND_INSERTED
      m.pointee.inserted = value.pack(into: &arena)
    case .updated(let value):
      m.pointee.kind_case = CARAVAN__V1__LIVE_STEP__KIND_UPDATED
      m.pointee.updated = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LiveStep>) throws(WireError) {
    from = m.pointee.has_from != 0 ? m.pointee.from : 0
    to = m.pointee.has_to != 0 ? m.pointee.to : 0
    elsewhere = m.pointee.has_elsewhere != 0 ? m.pointee.elsewhere != 0 : false
    switch m.pointee.kind_case {
    case CARAVAN__V1__LIVE_STEP__KIND_DELETED: kind = .deleted(try copyText(m.pointee.deleted))
    case CARAVAN__V1__LIVE_STEP__KIND_MOVED: kind = .moved(try copyText(m.pointee.moved))
    case CARAVAN__V1__LIVE_STEP__KIND_INSERTED: kind = .inserted(try Row(c: m.pointee.inserted))
    case CARAVAN__V1__LIVE_STEP__KIND_UPDATED: kind = .updated(try Row(c: m.pointee.updated))
    default: kind = nil
    }
  }

  static let shape = 166

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__live_step__get_packed_size(m)) { caravan__v1__live_step__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__live_step__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CursorRef: WireMessage, Equatable {
  public var cursor: UInt64

  public init(
    cursor: UInt64 = 0
  ) {
    self.cursor = cursor
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CursorRef> {
    let m = arena.make(Caravan__V1__CursorRef.self, caravan__v1__cursor_ref__init)
    if cursor != 0 { m.pointee.has_cursor = 1; m.pointee.cursor = cursor }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CursorRef>) throws(WireError) {
    cursor = m.pointee.has_cursor != 0 ? m.pointee.cursor : 0
  }

  static let shape = 167

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__cursor_ref__get_packed_size(m)) { caravan__v1__cursor_ref__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__cursor_ref__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ObjectInfo: WireMessage, Equatable {
  public var column: String
  public var size: UInt64

  public init(
    column: String = "",
    size: UInt64 = 0
  ) {
    self.column = column
    self.size = size
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ObjectInfo> {
    let m = arena.make(Caravan__V1__ObjectInfo.self, caravan__v1__object_info__init)
    if !column.isEmpty { m.pointee.column = arena.string(column) }
    if size != 0 { m.pointee.has_size = 1; m.pointee.size = size }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ObjectInfo>) throws(WireError) {
    column = try copyText(m.pointee.column)
    size = m.pointee.has_size != 0 ? m.pointee.size : 0
  }

  static let shape = 168

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__object_info__get_packed_size(m)) { caravan__v1__object_info__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__object_info__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Row: WireMessage, Equatable {
  public var id: String
  public var version: UInt64
  public var state: RowState
  public var cells: [Cell]
  public var objects: [ObjectInfo]
  public var refused: String
  public var createdMilliseconds: UInt64
  public var createdBy: String
  public var modifiedMilliseconds: UInt64
  public var modifiedBy: String
  public var expiresMilliseconds: UInt64

  public init(
    id: String = "",
    version: UInt64 = 0,
    state: RowState = .clean,
    cells: [Cell] = [],
    objects: [ObjectInfo] = [],
    refused: String = "",
    createdMilliseconds: UInt64 = 0,
    createdBy: String = "",
    modifiedMilliseconds: UInt64 = 0,
    modifiedBy: String = "",
    expiresMilliseconds: UInt64 = 0
  ) {
    self.id = id
    self.version = version
    self.state = state
    self.cells = cells
    self.objects = objects
    self.refused = refused
    self.createdMilliseconds = createdMilliseconds
    self.createdBy = createdBy
    self.modifiedMilliseconds = modifiedMilliseconds
    self.modifiedBy = modifiedBy
    self.expiresMilliseconds = expiresMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Row> {
    let m = arena.make(Caravan__V1__Row.self, caravan__v1__row__init)
    if !id.isEmpty { m.pointee.id = arena.string(id) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    if state != .clean { m.pointee.has_state = 1; m.pointee.state = state.c }
    (m.pointee.n_cells, m.pointee.cells) = arena.messages(cells) { $0.pack(into: &$1) }
    (m.pointee.n_objects, m.pointee.objects) = arena.messages(objects) { $0.pack(into: &$1) }
    if !refused.isEmpty { m.pointee.refused = arena.string(refused) }
    if createdMilliseconds != 0 {
      m.pointee.has_created_milliseconds = 1
      m.pointee.created_milliseconds = createdMilliseconds
    }
    if !createdBy.isEmpty { m.pointee.created_by = arena.string(createdBy) }
    if modifiedMilliseconds != 0 {
      m.pointee.has_modified_milliseconds = 1
      m.pointee.modified_milliseconds = modifiedMilliseconds
    }
    if !modifiedBy.isEmpty { m.pointee.modified_by = arena.string(modifiedBy) }
    if expiresMilliseconds != 0 {
      m.pointee.has_expires_milliseconds = 1
      m.pointee.expires_milliseconds = expiresMilliseconds
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Row>) throws(WireError) {
    id = try copyText(m.pointee.id)
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
    state = m.pointee.has_state != 0 ? RowState(c: m.pointee.state) : .clean
    cells = try copyMessages(m.pointee.n_cells, m.pointee.cells) { (p) throws(WireError) in try Cell(c: p) }
    objects = try copyMessages(m.pointee.n_objects, m.pointee.objects) { (p) throws(WireError) in try ObjectInfo(c: p) }
    refused = try copyText(m.pointee.refused)
    createdMilliseconds = m.pointee.has_created_milliseconds != 0 ? m.pointee.created_milliseconds : 0
    createdBy = try copyText(m.pointee.created_by)
    modifiedMilliseconds = m.pointee.has_modified_milliseconds != 0 ? m.pointee.modified_milliseconds : 0
    modifiedBy = try copyText(m.pointee.modified_by)
    expiresMilliseconds = m.pointee.has_expires_milliseconds != 0 ? m.pointee.expires_milliseconds : 0
  }

  static let shape = 169

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__row__get_packed_size(m)) { caravan__v1__row__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__row__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RowPage: WireMessage, Equatable {
  public var cursor: UInt64
  public var rows: [Row]
  public var more: Bool

  public init(
    cursor: UInt64 = 0,
    rows: [Row] = [],
    more: Bool = false
  ) {
    self.cursor = cursor
    self.rows = rows
    self.more = more
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RowPage> {
    let m = arena.make(Caravan__V1__RowPage.self, caravan__v1__row_page__init)
    if cursor != 0 { m.pointee.has_cursor = 1; m.pointee.cursor = cursor }
    (m.pointee.n_rows, m.pointee.rows) = arena.messages(rows) { $0.pack(into: &$1) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RowPage>) throws(WireError) {
    cursor = m.pointee.has_cursor != 0 ? m.pointee.cursor : 0
    rows = try copyMessages(m.pointee.n_rows, m.pointee.rows) { (p) throws(WireError) in try Row(c: p) }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
  }

  static let shape = 170

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__row_page__get_packed_size(m)) { caravan__v1__row_page__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__row_page__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ReadObject: WireMessage, Equatable {
  public var table: String
  public var row: String
  public var object: String
  public var offset: UInt64
  public var length: UInt32
  public var cursor: UInt64
  public var copy: RowCopy
  public var publicDatabase: Bool
  public var version: UInt64

  public init(
    table: String = "",
    row: String = "",
    object: String = "",
    offset: UInt64 = 0,
    length: UInt32 = 0,
    cursor: UInt64 = 0,
    copy: RowCopy = .mine,
    publicDatabase: Bool = false,
    version: UInt64 = 0
  ) {
    self.table = table
    self.row = row
    self.object = object
    self.offset = offset
    self.length = length
    self.cursor = cursor
    self.copy = copy
    self.publicDatabase = publicDatabase
    self.version = version
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ReadObject> {
    let m = arena.make(Caravan__V1__ReadObject.self, caravan__v1__read_object__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if !row.isEmpty { m.pointee.row = arena.string(row) }
    if !object.isEmpty { m.pointee.object = arena.string(object) }
    if offset != 0 { m.pointee.has_offset = 1; m.pointee.offset = offset }
    if length != 0 { m.pointee.has_length = 1; m.pointee.length = length }
    if cursor != 0 { m.pointee.has_cursor = 1; m.pointee.cursor = cursor }
    if copy != .mine { m.pointee.has_copy = 1; m.pointee.copy = copy.c }
    if publicDatabase { m.pointee.has_public_database = 1; m.pointee.public_database = publicDatabase ? 1 : 0 }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ReadObject>) throws(WireError) {
    table = try copyText(m.pointee.table)
    row = try copyText(m.pointee.row)
    object = try copyText(m.pointee.object)
    offset = m.pointee.has_offset != 0 ? m.pointee.offset : 0
    length = m.pointee.has_length != 0 ? m.pointee.length : 0
    cursor = m.pointee.has_cursor != 0 ? m.pointee.cursor : 0
    copy = m.pointee.has_copy != 0 ? RowCopy(c: m.pointee.copy) : .mine
    publicDatabase = m.pointee.has_public_database != 0 ? m.pointee.public_database != 0 : false
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
  }

  static let shape = 171

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__read_object__get_packed_size(m)) { caravan__v1__read_object__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__read_object__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ObjectBytes: WireMessage, Equatable {
  public var data: [UInt8]
  public var size: UInt64

  public init(
    data: [UInt8] = [],
    size: UInt64 = 0
  ) {
    self.data = data
    self.size = size
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ObjectBytes> {
    let m = arena.make(Caravan__V1__ObjectBytes.self, caravan__v1__object_bytes__init)
    if !data.isEmpty { m.pointee.has_data = 1; m.pointee.data = arena.bytes(data) }
    if size != 0 { m.pointee.has_size = 1; m.pointee.size = size }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ObjectBytes>) throws(WireError) {
    data = m.pointee.has_data != 0 ? copyBytes(m.pointee.data) : []
    size = m.pointee.has_size != 0 ? m.pointee.size : 0
  }

  static let shape = 172

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__object_bytes__get_packed_size(m)) { caravan__v1__object_bytes__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__object_bytes__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DeleteRows: WireMessage, Equatable {
  public var table: String
  public var selection: Selection?

  public init(
    table: String = "",
    selection: Selection? = nil
  ) {
    self.table = table
    self.selection = selection
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DeleteRows> {
    let m = arena.make(Caravan__V1__DeleteRows.self, caravan__v1__delete_rows__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if let selection { m.pointee.selection = selection.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DeleteRows>) throws(WireError) {
    table = try copyText(m.pointee.table)
    selection = if let p = m.pointee.selection { try Selection(c: p) } else { nil }
  }

  static let shape = 173

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__delete_rows__get_packed_size(m)) { caravan__v1__delete_rows__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__delete_rows__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Affected: WireMessage, Equatable {
  public var rows: UInt64

  public init(
    rows: UInt64 = 0
  ) {
    self.rows = rows
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Affected> {
    let m = arena.make(Caravan__V1__Affected.self, caravan__v1__affected__init)
    if rows != 0 { m.pointee.has_rows = 1; m.pointee.rows = rows }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Affected>) throws(WireError) {
    rows = m.pointee.has_rows != 0 ? m.pointee.rows : 0
  }

  static let shape = 174

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__affected__get_packed_size(m)) { caravan__v1__affected__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__affected__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RegisterSync: WireMessage, Equatable {
  public var table: String
  public var read: Bool
  public var periodMilliseconds: UInt32
  public var delayToleranceMilliseconds: UInt32
  public var link: LinkClass
  public var loss: LossTolerance?

  public init(
    table: String = "",
    read: Bool = false,
    periodMilliseconds: UInt32 = 0,
    delayToleranceMilliseconds: UInt32 = 0,
    link: LinkClass = .none,
    loss: LossTolerance? = nil
  ) {
    self.table = table
    self.read = read
    self.periodMilliseconds = periodMilliseconds
    self.delayToleranceMilliseconds = delayToleranceMilliseconds
    self.link = link
    self.loss = loss
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RegisterSync> {
    let m = arena.make(Caravan__V1__RegisterSync.self, caravan__v1__register_sync__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if read { m.pointee.has_read = 1; m.pointee.read = read ? 1 : 0 }
    if periodMilliseconds != 0 {
      m.pointee.has_period_milliseconds = 1
      m.pointee.period_milliseconds = periodMilliseconds
    }
    if delayToleranceMilliseconds != 0 {
      m.pointee.has_delay_tolerance_milliseconds = 1
      m.pointee.delay_tolerance_milliseconds = delayToleranceMilliseconds
    }
    if link != .none { m.pointee.has_link = 1; m.pointee.link = link.c }
    if let loss { m.pointee.loss = loss.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RegisterSync>) throws(WireError) {
    table = try copyText(m.pointee.table)
    read = m.pointee.has_read != 0 ? m.pointee.read != 0 : false
    periodMilliseconds = m.pointee.has_period_milliseconds != 0 ? m.pointee.period_milliseconds : 0
    delayToleranceMilliseconds =
      m.pointee.has_delay_tolerance_milliseconds != 0 ? m.pointee.delay_tolerance_milliseconds : 0
    link = m.pointee.has_link != 0 ? LinkClass(c: m.pointee.link) : .none
    loss = if let p = m.pointee.loss { try LossTolerance(c: p) } else { nil }
  }

  static let shape = 175

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__register_sync__get_packed_size(m)) { caravan__v1__register_sync__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__register_sync__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LossTolerance: WireMessage, Equatable {
  public var maximumPermille: UInt32
  public var timeToLiveMilliseconds: UInt32
  public var onRequest: Bool

  public init(
    maximumPermille: UInt32 = 0,
    timeToLiveMilliseconds: UInt32 = 0,
    onRequest: Bool = false
  ) {
    self.maximumPermille = maximumPermille
    self.timeToLiveMilliseconds = timeToLiveMilliseconds
    self.onRequest = onRequest
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LossTolerance> {
    let m = arena.make(Caravan__V1__LossTolerance.self, caravan__v1__loss_tolerance__init)
    if maximumPermille != 0 { m.pointee.has_maximum_permille = 1; m.pointee.maximum_permille = maximumPermille }
    if timeToLiveMilliseconds != 0 {
      m.pointee.has_time_to_live_milliseconds = 1
      m.pointee.time_to_live_milliseconds = timeToLiveMilliseconds
    }
    if onRequest { m.pointee.has_on_request = 1; m.pointee.on_request = onRequest ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LossTolerance>) throws(WireError) {
    maximumPermille = m.pointee.has_maximum_permille != 0 ? m.pointee.maximum_permille : 0
    timeToLiveMilliseconds = m.pointee.has_time_to_live_milliseconds != 0 ? m.pointee.time_to_live_milliseconds : 0
    onRequest = m.pointee.has_on_request != 0 ? m.pointee.on_request != 0 : false
  }

  static let shape = 176

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__loss_tolerance__get_packed_size(m)) { caravan__v1__loss_tolerance__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__loss_tolerance__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct UnregisterSync: WireMessage, Equatable {
  public var table: String
  public var read: Bool

  public init(
    table: String = "",
    read: Bool = false
  ) {
    self.table = table
    self.read = read
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__UnregisterSync> {
    let m = arena.make(Caravan__V1__UnregisterSync.self, caravan__v1__unregister_sync__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if read { m.pointee.has_read = 1; m.pointee.read = read ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__UnregisterSync>) throws(WireError) {
    table = try copyText(m.pointee.table)
    read = m.pointee.has_read != 0 ? m.pointee.read != 0 : false
  }

  static let shape = 177

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__unregister_sync__get_packed_size(m)) { caravan__v1__unregister_sync__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__unregister_sync__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SyncNow: WireMessage, Equatable {
  public var table: String
  public var write: Bool
  public var read: Bool

  public init(
    table: String = "",
    write: Bool = false,
    read: Bool = false
  ) {
    self.table = table
    self.write = write
    self.read = read
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SyncNow> {
    let m = arena.make(Caravan__V1__SyncNow.self, caravan__v1__sync_now__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if write { m.pointee.has_write = 1; m.pointee.write = write ? 1 : 0 }
    if read { m.pointee.has_read = 1; m.pointee.read = read ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SyncNow>) throws(WireError) {
    table = try copyText(m.pointee.table)
    write = m.pointee.has_write != 0 ? m.pointee.write != 0 : false
    read = m.pointee.has_read != 0 ? m.pointee.read != 0 : false
  }

  static let shape = 178

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__sync_now__get_packed_size(m)) { caravan__v1__sync_now__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__sync_now__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ConflictedRows: WireMessage, Equatable {
  public var table: String
  public var after: String

  public init(
    table: String = "",
    after: String = ""
  ) {
    self.table = table
    self.after = after
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ConflictedRows> {
    let m = arena.make(Caravan__V1__ConflictedRows.self, caravan__v1__conflicted_rows__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if !after.isEmpty { m.pointee.after = arena.string(after) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ConflictedRows>) throws(WireError) {
    table = try copyText(m.pointee.table)
    after = try copyText(m.pointee.after)
  }

  static let shape = 179

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__conflicted_rows__get_packed_size(m)) { caravan__v1__conflicted_rows__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__conflicted_rows__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ConflictRow: WireMessage, Equatable {
  public var mine: Row?
  public var theirs: Row?
  public var ancestor: Row?
  public var mineDeleted: Bool

  public init(
    mine: Row? = nil,
    theirs: Row? = nil,
    ancestor: Row? = nil,
    mineDeleted: Bool = false
  ) {
    self.mine = mine
    self.theirs = theirs
    self.ancestor = ancestor
    self.mineDeleted = mineDeleted
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ConflictRow> {
    let m = arena.make(Caravan__V1__ConflictRow.self, caravan__v1__conflict_row__init)
    if let mine { m.pointee.mine = mine.pack(into: &arena) }
    if let theirs { m.pointee.theirs = theirs.pack(into: &arena) }
    if let ancestor { m.pointee.ancestor = ancestor.pack(into: &arena) }
    if mineDeleted { m.pointee.has_mine_deleted = 1; m.pointee.mine_deleted = mineDeleted ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ConflictRow>) throws(WireError) {
    mine = if let p = m.pointee.mine { try Row(c: p) } else { nil }
    theirs = if let p = m.pointee.theirs { try Row(c: p) } else { nil }
    ancestor = if let p = m.pointee.ancestor { try Row(c: p) } else { nil }
    mineDeleted = m.pointee.has_mine_deleted != 0 ? m.pointee.mine_deleted != 0 : false
  }

  static let shape = 180

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__conflict_row__get_packed_size(m)) { caravan__v1__conflict_row__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__conflict_row__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ConflictPage: WireMessage, Equatable {
  public var conflicts: [ConflictRow]
  public var more: Bool

  public init(
    conflicts: [ConflictRow] = [],
    more: Bool = false
  ) {
    self.conflicts = conflicts
    self.more = more
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ConflictPage> {
    let m = arena.make(Caravan__V1__ConflictPage.self, caravan__v1__conflict_page__init)
    (m.pointee.n_conflicts, m.pointee.conflicts) = arena.messages(conflicts) { $0.pack(into: &$1) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ConflictPage>) throws(WireError) {
    conflicts = try copyMessages(m.pointee.n_conflicts, m.pointee.conflicts) { (p) throws(WireError) in
      try ConflictRow(c: p)
    }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
  }

  static let shape = 181

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__conflict_page__get_packed_size(m)) { caravan__v1__conflict_page__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__conflict_page__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ResolveConflict: WireMessage, Equatable {
  public var table: String
  public var row: String
  public var choice: Choice
  public var cells: [Cell]
  public var fromTheirs: [String]

  public init(
    table: String = "",
    row: String = "",
    choice: Choice = .unspecified,
    cells: [Cell] = [],
    fromTheirs: [String] = []
  ) {
    self.table = table
    self.row = row
    self.choice = choice
    self.cells = cells
    self.fromTheirs = fromTheirs
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ResolveConflict> {
    let m = arena.make(Caravan__V1__ResolveConflict.self, caravan__v1__resolve_conflict__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if !row.isEmpty { m.pointee.row = arena.string(row) }
    if choice != .unspecified { m.pointee.has_choice = 1; m.pointee.choice = choice.c }
    (m.pointee.n_cells, m.pointee.cells) = arena.messages(cells) { $0.pack(into: &$1) }
    (m.pointee.n_from_theirs, m.pointee.from_theirs) = arena.strings(fromTheirs)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ResolveConflict>) throws(WireError) {
    table = try copyText(m.pointee.table)
    row = try copyText(m.pointee.row)
    choice = m.pointee.has_choice != 0 ? Choice(c: m.pointee.choice) : .unspecified
    cells = try copyMessages(m.pointee.n_cells, m.pointee.cells) { (p) throws(WireError) in try Cell(c: p) }
    fromTheirs = try copyStrings(m.pointee.n_from_theirs, m.pointee.from_theirs)
  }

  static let shape = 182

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__resolve_conflict__get_packed_size(m)) { caravan__v1__resolve_conflict__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__resolve_conflict__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct EndResolution: WireMessage, Equatable {
  public var table: String
  public var abandon: Bool

  public init(
    table: String = "",
    abandon: Bool = false
  ) {
    self.table = table
    self.abandon = abandon
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__EndResolution> {
    let m = arena.make(Caravan__V1__EndResolution.self, caravan__v1__end_resolution__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if abandon { m.pointee.has_abandon = 1; m.pointee.abandon = abandon ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__EndResolution>) throws(WireError) {
    table = try copyText(m.pointee.table)
    abandon = m.pointee.has_abandon != 0 ? m.pointee.abandon != 0 : false
  }

  static let shape = 183

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__end_resolution__get_packed_size(m)) { caravan__v1__end_resolution__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__end_resolution__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SetLink: WireMessage, Equatable {
  public var link: LinkClass
  public var metered: Bool
  public var automatic: Bool

  public init(
    link: LinkClass = .none,
    metered: Bool = false,
    automatic: Bool = false
  ) {
    self.link = link
    self.metered = metered
    self.automatic = automatic
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SetLink> {
    let m = arena.make(Caravan__V1__SetLink.self, caravan__v1__set_link__init)
    if link != .none { m.pointee.has_link = 1; m.pointee.link = link.c }
    if metered { m.pointee.has_metered = 1; m.pointee.metered = metered ? 1 : 0 }
    if automatic { m.pointee.has_automatic = 1; m.pointee.automatic = automatic ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SetLink>) throws(WireError) {
    link = m.pointee.has_link != 0 ? LinkClass(c: m.pointee.link) : .none
    metered = m.pointee.has_metered != 0 ? m.pointee.metered != 0 : false
    automatic = m.pointee.has_automatic != 0 ? m.pointee.automatic != 0 : false
  }

  static let shape = 184

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__set_link__get_packed_size(m)) { caravan__v1__set_link__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__set_link__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct NetworkPolicy: WireMessage, Equatable {
  public var maximumLink: LinkClass
  public var budgets: [LinkBudget]

  public init(
    maximumLink: LinkClass = .none,
    budgets: [LinkBudget] = []
  ) {
    self.maximumLink = maximumLink
    self.budgets = budgets
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__NetworkPolicy> {
    let m = arena.make(Caravan__V1__NetworkPolicy.self, caravan__v1__network_policy__init)
    if maximumLink != .none { m.pointee.has_maximum_link = 1; m.pointee.maximum_link = maximumLink.c }
    (m.pointee.n_budgets, m.pointee.budgets) = arena.messages(budgets) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__NetworkPolicy>) throws(WireError) {
    maximumLink = m.pointee.has_maximum_link != 0 ? LinkClass(c: m.pointee.maximum_link) : .none
    budgets = try copyMessages(m.pointee.n_budgets, m.pointee.budgets) { (p) throws(WireError) in try LinkBudget(c: p) }
  }

  static let shape = 185

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__network_policy__get_packed_size(m)) { caravan__v1__network_policy__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__network_policy__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LinkBudget: WireMessage, Equatable {
  public var link: LinkClass
  public var dailyBytes: UInt64
  public var usedToday: UInt64

  public init(
    link: LinkClass = .none,
    dailyBytes: UInt64 = 0,
    usedToday: UInt64 = 0
  ) {
    self.link = link
    self.dailyBytes = dailyBytes
    self.usedToday = usedToday
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LinkBudget> {
    let m = arena.make(Caravan__V1__LinkBudget.self, caravan__v1__link_budget__init)
    if link != .none { m.pointee.has_link = 1; m.pointee.link = link.c }
    if dailyBytes != 0 { m.pointee.has_daily_bytes = 1; m.pointee.daily_bytes = dailyBytes }
    if usedToday != 0 { m.pointee.has_used_today = 1; m.pointee.used_today = usedToday }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LinkBudget>) throws(WireError) {
    link = m.pointee.has_link != 0 ? LinkClass(c: m.pointee.link) : .none
    dailyBytes = m.pointee.has_daily_bytes != 0 ? m.pointee.daily_bytes : 0
    usedToday = m.pointee.has_used_today != 0 ? m.pointee.used_today : 0
  }

  static let shape = 186

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__link_budget__get_packed_size(m)) { caravan__v1__link_budget__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__link_budget__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Upcall: WireMessage, Equatable {
  public var kind: UpcallKind
  public var table: String
  public var rows: UInt64
  public var lost: [String]
  public var number: UInt64
  public var rowIds: [String]
  public var after: UInt64

  public init(
    kind: UpcallKind = .unspecified,
    table: String = "",
    rows: UInt64 = 0,
    lost: [String] = [],
    number: UInt64 = 0,
    rowIds: [String] = [],
    after: UInt64 = 0
  ) {
    self.kind = kind
    self.table = table
    self.rows = rows
    self.lost = lost
    self.number = number
    self.rowIds = rowIds
    self.after = after
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Upcall> {
    let m = arena.make(Caravan__V1__Upcall.self, caravan__v1__upcall__init)
    if kind != .unspecified { m.pointee.has_kind = 1; m.pointee.kind = kind.c }
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if rows != 0 { m.pointee.has_rows = 1; m.pointee.rows = rows }
    (m.pointee.n_lost, m.pointee.lost) = arena.strings(lost)
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    (m.pointee.n_row_ids, m.pointee.row_ids) = arena.strings(rowIds)
    if after != 0 { m.pointee.has_after = 1; m.pointee.after = after }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Upcall>) throws(WireError) {
    kind = m.pointee.has_kind != 0 ? UpcallKind(c: m.pointee.kind) : .unspecified
    table = try copyText(m.pointee.table)
    rows = m.pointee.has_rows != 0 ? m.pointee.rows : 0
    lost = try copyStrings(m.pointee.n_lost, m.pointee.lost)
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
    rowIds = try copyStrings(m.pointee.n_row_ids, m.pointee.row_ids)
    after = m.pointee.has_after != 0 ? m.pointee.after : 0
  }

  static let shape = 187

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__upcall__get_packed_size(m)) { caravan__v1__upcall__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__upcall__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SyncEvent: WireMessage, Equatable {
  public var table: String
  public var write: Bool
  public var rowsSent: UInt64
  public var deletionsSent: UInt64
  public var rowsReceived: UInt64
  public var resumed: Bool
  public var complete: Bool
  public var sessions: UInt64

  public init(
    table: String = "",
    write: Bool = false,
    rowsSent: UInt64 = 0,
    deletionsSent: UInt64 = 0,
    rowsReceived: UInt64 = 0,
    resumed: Bool = false,
    complete: Bool = false,
    sessions: UInt64 = 0
  ) {
    self.table = table
    self.write = write
    self.rowsSent = rowsSent
    self.deletionsSent = deletionsSent
    self.rowsReceived = rowsReceived
    self.resumed = resumed
    self.complete = complete
    self.sessions = sessions
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SyncEvent> {
    let m = arena.make(Caravan__V1__SyncEvent.self, caravan__v1__sync_event__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if write { m.pointee.has_write = 1; m.pointee.write = write ? 1 : 0 }
    if rowsSent != 0 { m.pointee.has_rows_sent = 1; m.pointee.rows_sent = rowsSent }
    if deletionsSent != 0 { m.pointee.has_deletions_sent = 1; m.pointee.deletions_sent = deletionsSent }
    if rowsReceived != 0 { m.pointee.has_rows_received = 1; m.pointee.rows_received = rowsReceived }
    if resumed { m.pointee.has_resumed = 1; m.pointee.resumed = resumed ? 1 : 0 }
    if complete { m.pointee.has_complete = 1; m.pointee.complete = complete ? 1 : 0 }
    if sessions != 0 { m.pointee.has_sessions = 1; m.pointee.sessions = sessions }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SyncEvent>) throws(WireError) {
    table = try copyText(m.pointee.table)
    write = m.pointee.has_write != 0 ? m.pointee.write != 0 : false
    rowsSent = m.pointee.has_rows_sent != 0 ? m.pointee.rows_sent : 0
    deletionsSent = m.pointee.has_deletions_sent != 0 ? m.pointee.deletions_sent : 0
    rowsReceived = m.pointee.has_rows_received != 0 ? m.pointee.rows_received : 0
    resumed = m.pointee.has_resumed != 0 ? m.pointee.resumed != 0 : false
    complete = m.pointee.has_complete != 0 ? m.pointee.complete != 0 : false
    sessions = m.pointee.has_sessions != 0 ? m.pointee.sessions : 0
  }

  static let shape = 188

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__sync_event__get_packed_size(m)) { caravan__v1__sync_event__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__sync_event__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TableStatus: WireMessage, Equatable {
  public var table: String
  public var rows: UInt64
  public var dirty: UInt64
  public var pending: UInt64
  public var conflicts: UInt64
  public var torn: UInt64
  public var lastSyncMilliseconds: UInt64
  public var bytesUp: UInt64
  public var bytesDown: UInt64
  public var refused: String
  public var schema: String
  public var loss: LossStatus?
  public var properties: TableProperties?
  public var mode: SyncMode
  public var remedy: String
  public var tornRows: [String]
  public var waiting: UInt64
  public var picksHere: Bool
  public var zoneIsGone: Bool
  public var aside: UInt64
  public var cloudDamagedRows: [String]
  public var settingChanges: [SettingChange]

  public init(
    table: String = "",
    rows: UInt64 = 0,
    dirty: UInt64 = 0,
    pending: UInt64 = 0,
    conflicts: UInt64 = 0,
    torn: UInt64 = 0,
    lastSyncMilliseconds: UInt64 = 0,
    bytesUp: UInt64 = 0,
    bytesDown: UInt64 = 0,
    refused: String = "",
    schema: String = "",
    loss: LossStatus? = nil,
    properties: TableProperties? = nil,
    mode: SyncMode = .idle,
    remedy: String = "",
    tornRows: [String] = [],
    waiting: UInt64 = 0,
    picksHere: Bool = false,
    zoneIsGone: Bool = false,
    aside: UInt64 = 0,
    cloudDamagedRows: [String] = [],
    settingChanges: [SettingChange] = []
  ) {
    self.table = table
    self.rows = rows
    self.dirty = dirty
    self.pending = pending
    self.conflicts = conflicts
    self.torn = torn
    self.lastSyncMilliseconds = lastSyncMilliseconds
    self.bytesUp = bytesUp
    self.bytesDown = bytesDown
    self.refused = refused
    self.schema = schema
    self.loss = loss
    self.properties = properties
    self.mode = mode
    self.remedy = remedy
    self.tornRows = tornRows
    self.waiting = waiting
    self.picksHere = picksHere
    self.zoneIsGone = zoneIsGone
    self.aside = aside
    self.cloudDamagedRows = cloudDamagedRows
    self.settingChanges = settingChanges
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TableStatus> {
    let m = arena.make(Caravan__V1__TableStatus.self, caravan__v1__table_status__init)
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if rows != 0 { m.pointee.has_rows = 1; m.pointee.rows = rows }
    if dirty != 0 { m.pointee.has_dirty = 1; m.pointee.dirty = dirty }
    if pending != 0 { m.pointee.has_pending = 1; m.pointee.pending = pending }
    if conflicts != 0 { m.pointee.has_conflicts = 1; m.pointee.conflicts = conflicts }
    if torn != 0 { m.pointee.has_torn = 1; m.pointee.torn = torn }
    if lastSyncMilliseconds != 0 {
      m.pointee.has_last_sync_milliseconds = 1
      m.pointee.last_sync_milliseconds = lastSyncMilliseconds
    }
    if bytesUp != 0 { m.pointee.has_bytes_up = 1; m.pointee.bytes_up = bytesUp }
    if bytesDown != 0 { m.pointee.has_bytes_down = 1; m.pointee.bytes_down = bytesDown }
    if !refused.isEmpty { m.pointee.refused = arena.string(refused) }
    if !schema.isEmpty { m.pointee.schema = arena.string(schema) }
    if let loss { m.pointee.loss = loss.pack(into: &arena) }
    if let properties { m.pointee.properties = properties.pack(into: &arena) }
    if mode != .idle { m.pointee.has_mode = 1; m.pointee.mode = mode.c }
    if !remedy.isEmpty { m.pointee.remedy = arena.string(remedy) }
    (m.pointee.n_torn_rows, m.pointee.torn_rows) = arena.strings(tornRows)
    if waiting != 0 { m.pointee.has_waiting = 1; m.pointee.waiting = waiting }
    if picksHere { m.pointee.has_picks_here = 1; m.pointee.picks_here = picksHere ? 1 : 0 }
    if zoneIsGone { m.pointee.has_zone_is_gone = 1; m.pointee.zone_is_gone = zoneIsGone ? 1 : 0 }
    if aside != 0 { m.pointee.has_aside = 1; m.pointee.aside = aside }
    (m.pointee.n_cloud_damaged_rows, m.pointee.cloud_damaged_rows) = arena.strings(cloudDamagedRows)
    (m.pointee.n_setting_changes, m.pointee.setting_changes) = arena.messages(settingChanges) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TableStatus>) throws(WireError) {
    table = try copyText(m.pointee.table)
    rows = m.pointee.has_rows != 0 ? m.pointee.rows : 0
    dirty = m.pointee.has_dirty != 0 ? m.pointee.dirty : 0
    pending = m.pointee.has_pending != 0 ? m.pointee.pending : 0
    conflicts = m.pointee.has_conflicts != 0 ? m.pointee.conflicts : 0
    torn = m.pointee.has_torn != 0 ? m.pointee.torn : 0
    lastSyncMilliseconds = m.pointee.has_last_sync_milliseconds != 0 ? m.pointee.last_sync_milliseconds : 0
    bytesUp = m.pointee.has_bytes_up != 0 ? m.pointee.bytes_up : 0
    bytesDown = m.pointee.has_bytes_down != 0 ? m.pointee.bytes_down : 0
    refused = try copyText(m.pointee.refused)
    schema = try copyText(m.pointee.schema)
    loss = if let p = m.pointee.loss { try LossStatus(c: p) } else { nil }
    properties = if let p = m.pointee.properties { try TableProperties(c: p) } else { nil }
    mode = m.pointee.has_mode != 0 ? SyncMode(c: m.pointee.mode) : .idle
    remedy = try copyText(m.pointee.remedy)
    tornRows = try copyStrings(m.pointee.n_torn_rows, m.pointee.torn_rows)
    waiting = m.pointee.has_waiting != 0 ? m.pointee.waiting : 0
    picksHere = m.pointee.has_picks_here != 0 ? m.pointee.picks_here != 0 : false
    zoneIsGone = m.pointee.has_zone_is_gone != 0 ? m.pointee.zone_is_gone != 0 : false
    aside = m.pointee.has_aside != 0 ? m.pointee.aside : 0
    cloudDamagedRows = try copyStrings(m.pointee.n_cloud_damaged_rows, m.pointee.cloud_damaged_rows)
    settingChanges = try copyMessages(m.pointee.n_setting_changes, m.pointee.setting_changes) { (p) throws(WireError) in
      try SettingChange(c: p)
    }
  }

  static let shape = 189

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__table_status__get_packed_size(m)) { caravan__v1__table_status__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__table_status__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SettingChange: WireMessage, Equatable {
  public var setting: String
  public var was: String
  public var now: String

  public init(
    setting: String = "",
    was: String = "",
    now: String = ""
  ) {
    self.setting = setting
    self.was = was
    self.now = now
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SettingChange> {
    let m = arena.make(Caravan__V1__SettingChange.self, caravan__v1__setting_change__init)
    if !setting.isEmpty { m.pointee.setting = arena.string(setting) }
    if !was.isEmpty { m.pointee.was = arena.string(was) }
    if !now.isEmpty { m.pointee.now = arena.string(now) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SettingChange>) throws(WireError) {
    setting = try copyText(m.pointee.setting)
    was = try copyText(m.pointee.was)
    now = try copyText(m.pointee.now)
  }

  static let shape = 190

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__setting_change__get_packed_size(m)) { caravan__v1__setting_change__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__setting_change__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LossStatus: WireMessage, Equatable {
  public var tolerance: LossTolerance?
  public var accepted: UInt64
  public var settled: UInt64
  public var expired: UInt64
  public var lostInQueue: UInt64
  public var lostToBusyServer: UInt64

  public init(
    tolerance: LossTolerance? = nil,
    accepted: UInt64 = 0,
    settled: UInt64 = 0,
    expired: UInt64 = 0,
    lostInQueue: UInt64 = 0,
    lostToBusyServer: UInt64 = 0
  ) {
    self.tolerance = tolerance
    self.accepted = accepted
    self.settled = settled
    self.expired = expired
    self.lostInQueue = lostInQueue
    self.lostToBusyServer = lostToBusyServer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LossStatus> {
    let m = arena.make(Caravan__V1__LossStatus.self, caravan__v1__loss_status__init)
    if let tolerance { m.pointee.tolerance = tolerance.pack(into: &arena) }
    if accepted != 0 { m.pointee.has_accepted = 1; m.pointee.accepted = accepted }
    if settled != 0 { m.pointee.has_settled = 1; m.pointee.settled = settled }
    if expired != 0 { m.pointee.has_expired = 1; m.pointee.expired = expired }
    if lostInQueue != 0 { m.pointee.has_lost_in_queue = 1; m.pointee.lost_in_queue = lostInQueue }
    if lostToBusyServer != 0 { m.pointee.has_lost_to_busy_server = 1; m.pointee.lost_to_busy_server = lostToBusyServer }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LossStatus>) throws(WireError) {
    tolerance = if let p = m.pointee.tolerance { try LossTolerance(c: p) } else { nil }
    accepted = m.pointee.has_accepted != 0 ? m.pointee.accepted : 0
    settled = m.pointee.has_settled != 0 ? m.pointee.settled : 0
    expired = m.pointee.has_expired != 0 ? m.pointee.expired : 0
    lostInQueue = m.pointee.has_lost_in_queue != 0 ? m.pointee.lost_in_queue : 0
    lostToBusyServer = m.pointee.has_lost_to_busy_server != 0 ? m.pointee.lost_to_busy_server : 0
  }

  static let shape = 191

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__loss_status__get_packed_size(m)) { caravan__v1__loss_status__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__loss_status__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AgentStatus: WireMessage, Equatable {
  public var device: String
  public var user: String
  public var link: LinkClass
  public var connected: Bool
  public var tables: [TableStatus]
  public var counters: [CounterValue]
  public var metered: Bool
  public var linkIsAutomatic: Bool
  public var policy: NetworkPolicy?
  public var usage: [LinkUsage]
  public var mode: SyncMode
  public var diskIsFull: Bool
  public var refused: String
  public var remedy: String
  public var refusedSinceMilliseconds: UInt64
  public var linkIsAssumed: Bool
  public var unreachable: String

  public init(
    device: String = "",
    user: String = "",
    link: LinkClass = .none,
    connected: Bool = false,
    tables: [TableStatus] = [],
    counters: [CounterValue] = [],
    metered: Bool = false,
    linkIsAutomatic: Bool = false,
    policy: NetworkPolicy? = nil,
    usage: [LinkUsage] = [],
    mode: SyncMode = .idle,
    diskIsFull: Bool = false,
    refused: String = "",
    remedy: String = "",
    refusedSinceMilliseconds: UInt64 = 0,
    linkIsAssumed: Bool = false,
    unreachable: String = ""
  ) {
    self.device = device
    self.user = user
    self.link = link
    self.connected = connected
    self.tables = tables
    self.counters = counters
    self.metered = metered
    self.linkIsAutomatic = linkIsAutomatic
    self.policy = policy
    self.usage = usage
    self.mode = mode
    self.diskIsFull = diskIsFull
    self.refused = refused
    self.remedy = remedy
    self.refusedSinceMilliseconds = refusedSinceMilliseconds
    self.linkIsAssumed = linkIsAssumed
    self.unreachable = unreachable
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AgentStatus> {
    let m = arena.make(Caravan__V1__AgentStatus.self, caravan__v1__agent_status__init)
    if !device.isEmpty { m.pointee.device = arena.string(device) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if link != .none { m.pointee.has_link = 1; m.pointee.link = link.c }
    if connected { m.pointee.has_connected = 1; m.pointee.connected = connected ? 1 : 0 }
    (m.pointee.n_tables, m.pointee.tables) = arena.messages(tables) { $0.pack(into: &$1) }
    (m.pointee.n_counters, m.pointee.counters) = arena.messages(counters) { $0.pack(into: &$1) }
    if metered { m.pointee.has_metered = 1; m.pointee.metered = metered ? 1 : 0 }
    if linkIsAutomatic { m.pointee.has_link_is_automatic = 1; m.pointee.link_is_automatic = linkIsAutomatic ? 1 : 0 }
    if let policy { m.pointee.policy = policy.pack(into: &arena) }
    (m.pointee.n_usage, m.pointee.usage) = arena.messages(usage) { $0.pack(into: &$1) }
    if mode != .idle { m.pointee.has_mode = 1; m.pointee.mode = mode.c }
    if diskIsFull { m.pointee.has_disk_is_full = 1; m.pointee.disk_is_full = diskIsFull ? 1 : 0 }
    if !refused.isEmpty { m.pointee.refused = arena.string(refused) }
    if !remedy.isEmpty { m.pointee.remedy = arena.string(remedy) }
    if refusedSinceMilliseconds != 0 {
      m.pointee.has_refused_since_milliseconds = 1
      m.pointee.refused_since_milliseconds = refusedSinceMilliseconds
    }
    if linkIsAssumed { m.pointee.has_link_is_assumed = 1; m.pointee.link_is_assumed = linkIsAssumed ? 1 : 0 }
    if !unreachable.isEmpty { m.pointee.unreachable = arena.string(unreachable) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AgentStatus>) throws(WireError) {
    device = try copyText(m.pointee.device)
    user = try copyText(m.pointee.user)
    link = m.pointee.has_link != 0 ? LinkClass(c: m.pointee.link) : .none
    connected = m.pointee.has_connected != 0 ? m.pointee.connected != 0 : false
    tables = try copyMessages(m.pointee.n_tables, m.pointee.tables) { (p) throws(WireError) in try TableStatus(c: p) }
    counters = try copyMessages(m.pointee.n_counters, m.pointee.counters) { (p) throws(WireError) in
      try CounterValue(c: p)
    }
    metered = m.pointee.has_metered != 0 ? m.pointee.metered != 0 : false
    linkIsAutomatic = m.pointee.has_link_is_automatic != 0 ? m.pointee.link_is_automatic != 0 : false
    policy = if let p = m.pointee.policy { try NetworkPolicy(c: p) } else { nil }
    usage = try copyMessages(m.pointee.n_usage, m.pointee.usage) { (p) throws(WireError) in try LinkUsage(c: p) }
    mode = m.pointee.has_mode != 0 ? SyncMode(c: m.pointee.mode) : .idle
    diskIsFull = m.pointee.has_disk_is_full != 0 ? m.pointee.disk_is_full != 0 : false
    refused = try copyText(m.pointee.refused)
    remedy = try copyText(m.pointee.remedy)
    refusedSinceMilliseconds = m.pointee.has_refused_since_milliseconds != 0 ? m.pointee.refused_since_milliseconds : 0
    linkIsAssumed = m.pointee.has_link_is_assumed != 0 ? m.pointee.link_is_assumed != 0 : false
    unreachable = try copyText(m.pointee.unreachable)
  }

  static let shape = 192

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__agent_status__get_packed_size(m)) { caravan__v1__agent_status__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__agent_status__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LinkUsage: WireMessage, Equatable {
  public var link: LinkClass
  public var table: String
  public var bytesUp: UInt64
  public var bytesDown: UInt64

  public init(
    link: LinkClass = .none,
    table: String = "",
    bytesUp: UInt64 = 0,
    bytesDown: UInt64 = 0
  ) {
    self.link = link
    self.table = table
    self.bytesUp = bytesUp
    self.bytesDown = bytesDown
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LinkUsage> {
    let m = arena.make(Caravan__V1__LinkUsage.self, caravan__v1__link_usage__init)
    if link != .none { m.pointee.has_link = 1; m.pointee.link = link.c }
    if !table.isEmpty { m.pointee.table = arena.string(table) }
    if bytesUp != 0 { m.pointee.has_bytes_up = 1; m.pointee.bytes_up = bytesUp }
    if bytesDown != 0 { m.pointee.has_bytes_down = 1; m.pointee.bytes_down = bytesDown }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LinkUsage>) throws(WireError) {
    link = m.pointee.has_link != 0 ? LinkClass(c: m.pointee.link) : .none
    table = try copyText(m.pointee.table)
    bytesUp = m.pointee.has_bytes_up != 0 ? m.pointee.bytes_up : 0
    bytesDown = m.pointee.has_bytes_down != 0 ? m.pointee.bytes_down : 0
  }

  static let shape = 193

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__link_usage__get_packed_size(m)) { caravan__v1__link_usage__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__link_usage__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CounterValue: WireMessage, Equatable {
  public var name: String
  public var value: UInt64

  public init(
    name: String = "",
    value: UInt64 = 0
  ) {
    self.name = name
    self.value = value
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CounterValue> {
    let m = arena.make(Caravan__V1__CounterValue.self, caravan__v1__counter_value__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if value != 0 { m.pointee.has_value = 1; m.pointee.value = value }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CounterValue>) throws(WireError) {
    name = try copyText(m.pointee.name)
    value = m.pointee.has_value != 0 ? m.pointee.value : 0
  }

  static let shape = 194

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__counter_value__get_packed_size(m)) { caravan__v1__counter_value__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__counter_value__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
