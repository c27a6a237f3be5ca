// Reads what a source imports, for rules about who may know whom. Good enough for sources as the formatter leaves them.

const STATEMENT = /^\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
const DYNAMIC = /\bimport\(\s*'([^']+)'/g;

export interface ImportStatement {
  /** As it is written. */
  readonly specifier: string;
  /** True when only types are imported. */
  readonly isType: boolean;
}

export function importStatements(text: string): readonly ImportStatement[] {
  return [
    ...[...text.matchAll(STATEMENT)].map(([, type, specifier = '']) => ({
      specifier,
      isType: type !== undefined,
    })),
    ...[...text.matchAll(DYNAMIC)].map(([, specifier = '']) => ({ specifier, isType: false })),
  ];
}
