// Names of projects: a name is an id, wherever it is defined.

/** Letters, digits, `.`, `_` and `-`, 64 at most, the first a letter or a digit; never as ids of keys begin. */
export const PROJECT_NAME = /^(?!key_)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const PROJECT_NAME_RULE =
  'may hold letters, digits, `.`, `_` and `-`, 64 at most, and must begin with a letter or a digit, not with `key_`';

export function isProjectName(name: string): boolean {
  return PROJECT_NAME.test(name);
}
