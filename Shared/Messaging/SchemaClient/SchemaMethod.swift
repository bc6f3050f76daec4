public import CaravanBus

/// What the registry answers at `svc.schema.<method>`; the messages are those of `schema.proto`.
public enum SchemaMethod: String, Sendable, Hashable, CaseIterable {
  /// `ProposeTypeRequest` → `TypeReply`
  case propose
  /// `TypeRequest` → `TypeReply`
  case type
  /// `ListTypesRequest` → `ListTypesReply`
  case types
  /// `TemplateRequest` → `TemplateReply`
  case template
  /// `GrantsRequest` → `GrantsReply`
  case grants
  /// `ChangeSchemaRequest` → `ChangeSchemaReply`
  case change
  /// `SchemaHistoryRequest` → `SchemaHistoryReply`
  case history
  /// `RolesRequest` → `RolesReply`
  case roles
  /// `MembersRequest` → `MembersReply`
  case members
  /// `ContainerRequest` → `ContainerReply`
  case container
  /// `ContainersRequest` → `ContainersReply`: the operator's
  case containers

  public var subject: Subject { .service(.schema, method: rawValue) }
  public var pattern: SubjectPattern { .exact(subject) }
}
