// Looks into foreign JSON without types and without the product's code: what it reads is the evidence against
// which the product is judged.

/** Any JSON value, seen as an object. */
export interface Loose {
  readonly [key: string]: Loose | undefined;
}

/** The member of a value; undefined where there is none, and for null. */
export function at(value: Loose | undefined | null, ...path: readonly string[]): Loose | undefined {
  let found: Loose | undefined | null = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = found[key];
  }
  return found ?? undefined;
}

/** The elements of a value that is a list, else none. */
export function list(value: Loose | undefined): readonly Loose[] {
  return Array.isArray(value) ? (value as readonly Loose[]) : [];
}

/** The value if it is a string, else ''. */
export function word(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value if it is a number above 0, else 0. */
export function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

/** JSON with sorted members, so that equal values give equal text; the text itself where it is no JSON. */
export function sortedJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  } catch {
    return text;
  }
}

export interface Frame {
  readonly event: string;
  readonly data: string;
}

/** The server-sent events of a whole stream; comments are left out. */
export function framesOf(text: string): Frame[] {
  const frames: Frame[] = [];
  for (const block of text.replaceAll('\r\n', '\n').split(/\n\n+/)) {
    let event = '';
    const data: string[] = [];
    for (const line of block.split('\n')) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      else if (line.startsWith('event:')) event = line.slice(6).trim();
    }
    if (data.length > 0) frames.push({ event, data: data.join('\n') });
  }
  return frames;
}
