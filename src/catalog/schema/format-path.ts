// Paths in a configuration or a body, as people write them.

/** `['models', 0, 'id']` as people write it: `models[0].id`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text ? `.${String(part)}` : String(part);
  }
  return text;
}
