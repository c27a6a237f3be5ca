// What is said of a member of a request body in each protocol's list of them. Knows no member.

export interface RequestField<Support extends string> {
  readonly name: string;
  /** What the gateway does with it. */
  readonly support: Support;
  /** For users: ranges, and what takes its place. */
  readonly note: string;
}

/** The names of the members with any of these supports, in their order. */
export function namesOf<Support extends string>(
  fields: readonly RequestField<Support>[],
  ...supports: readonly Support[]
): ReadonlySet<string> {
  return new Set(fields.filter(({ support }) => supports.includes(support)).map(({ name }) => name));
}
