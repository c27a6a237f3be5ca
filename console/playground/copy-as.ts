// Generates code for a request: curl, Python and TypeScript.
import type { Dialect, LibraryCall } from './conversation.ts';

export const FORMS = ['curl', 'Python', 'TypeScript'] as const;
type Form = (typeof FORMS)[number];

interface Sent {
  readonly origin: string;
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Code that sends a request. It reads the API key from the environment. */
export function codeFor(form: Form, dialect: Dialect, { origin, model, body }: Sent): string {
  switch (form) {
    case 'curl': {
      const headers = { ...dialect.headers('$DRAGOMAN_KEY'), 'content-type': 'application/json' };
      // Not quoted like the rest, so that the shell expands the variable of the key.
      const given = Object.entries(headers).map(([name, value]) => `  -H "${name}: ${value}" \\`);
      const address = quoted(encodeURI(origin + dialect.path(model)));
      const json = quoted(JSON.stringify(body, null, 2));
      return [`curl -gN ${address} \\`, ...given, `  --data-raw ${json}`].join('\n');
    }
    case 'Python':
      return filled(
        dialect.libraries.python,
        pythonOf,
        'os.environ["DRAGOMAN_KEY"]',
        { origin, model, body },
        'import os\n\n',
      );
    case 'TypeScript':
      return filled(
        dialect.libraries.typescript,
        (value) => JSON.stringify(value, null, 2),
        'process.env.DRAGOMAN_KEY',
        { origin, model, body },
      );
  }
}

/** Quotes text as one shell word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function filled(
  { template, given }: LibraryCall,
  write: (value: unknown) => string,
  key: string,
  { origin, model, body }: Sent,
  before = '',
): string {
  const parts: Readonly<Record<string, string>> = {
    BASE: origin,
    KEY: key,
    BODY: write(given ? given(body, model) : body),
  };
  // One pass, because inserted text may contain a placeholder.
  return before + template.replace(/\b(?:BASE|KEY|BODY)\b/g, (word) => parts[word] ?? word);
}

/** A value as a Python literal. */
function pythonOf(value: unknown, indent = ''): string {
  const inner = `${indent}    `;
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : `[\n${value.map((each) => `${inner}${pythonOf(each, inner)},\n`).join('')}${indent}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).map(
      ([name, each]) => `${inner}${JSON.stringify(name)}: ${pythonOf(each, inner)},\n`,
    );
    return members.length === 0 ? '{}' : `{\n${members.join('')}${indent}}`;
  }
  return JSON.stringify(value);
}
