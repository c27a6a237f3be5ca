// Reads query parameters: strings under known names. Others are ignored.

/** Parses parameters with these names. */
export function textsOf<Name extends string>(...names: readonly Name[]) {
  return (search: Readonly<Record<string, unknown>>): { readonly [Each in Name]?: string } => {
    const given = names.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    });
    return Object.fromEntries(given) as { readonly [Each in Name]?: string };
  };
}
