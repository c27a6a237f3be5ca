// Names of projects. A name serves as the project's id.

/** At most 64 letters, digits, `.`, `_` and `-`, starting with a letter or digit, but not with `key_`, as ids of keys do. */
export const PROJECT_NAME = /^(?!key_)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const PROJECT_NAME_RULE =
  'must have at most 64 letters, digits, `.`, `_` and `-`, and begin with a letter or digit, but not with `key_`';

export function isProjectName(name: string): boolean {
  return PROJECT_NAME.test(name);
}
