/// The query language in the help of those commands that ask the cloud.
public enum QueryLanguage {
  public static let help = """
    WHERE is made of tests, AND, OR, NOT and parentheses. A value is '?', a number, 'text' or x'00ff':
      FIELD = VALUE                                 also <> < <= > >=
      FIELD [NOT] IN (VALUE, ...)                   FIELD [NOT] BETWEEN VALUE AND VALUE
      FIELD IS [NOT] NULL                           FIELD [NOT] LIKE 'Sn_w%'
      TEXT [NOT] MATCH 'snow "on the" fjo*'         words, a phrase, a beginning; MATCH ANY: one of them
      LIST [NOT] CONTAINS VALUE                     CONTAINS ALL (...), CONTAINS ANY (...), CONTAINS LIKE 'Sn%'
      PLACE [NOT] NEAR (LATITUDE, LONGITUDE, METRES)
      PLACE [NOT] WITHIN (SOUTH, WEST, NORTH, EAST)
    Every record has ___recordID, ___createTime, ___modTime and ___createdBy as well.
    """
}
