// Finds nested members of a request body that the canonical form does not hold. Each protocol describes the known
// members of its nodes as shapes.
import { isJsonArray, isJsonObject } from '../../base/json/index.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { TranslationLoss, ProtocolName } from '../../canonical/index.ts';

/** Shape of a node, or of each element of a list. */
export interface MemberShape {
  /** Members that the canonical form holds, or that mean nothing to other protocols. */
  readonly known: ReadonlySet<string>;
  /** Shapes of known members that are nodes themselves. */
  readonly inside?: Readonly<Record<string, Shape>>;
  /** True: an encoder of the same protocol writes the node from the canonical form, without unknown members. */
  readonly isRewritten?: true;
}
/** A shape can depend on the node. Undefined: only the node's own protocol knows it, and it is reported as a whole. */
export type Shape = MemberShape | ((node: JsonObject) => MemberShape | undefined);

/** Creates a shape with these members. @param names separated by spaces */
export function members(names: string, inside: MemberShape['inside'] = {}): MemberShape {
  return { known: new Set(names.split(' ')), inside };
}

/** Creates the same for a node that encoders of its own protocol rewrite. */
export function rewritten(names: string, inside?: MemberShape['inside']): MemberShape {
  return { ...members(names, inside), isRewritten: true };
}

/** Maximum number of report entries. */
const MOST_ENTRIES = 500;
const REASON = 'has no equivalent when the request is rewritten';

/**
 * Finds members of a decoded body that its shape does not know; undefined if there are none. Empty members (null, empty
 * string or list) are ignored. Without unknown members, the only cost is one lookup per name.
 * @param canonicalName normalizes a member's name where the protocol has several spellings
 */
export function unknownBelow(
  body: JsonObject,
  shape: MemberShape,
  protocol: ProtocolName,
  canonicalName?: (name: string) => string,
): readonly TranslationLoss[] | undefined {
  const search = new Search(protocol, canonicalName);
  search.inside(body, shape);
  return search.found.length > 0 ? search.found : undefined;
}

class Search {
  readonly found: TranslationLoss[] = [];
  readonly #protocol: ProtocolName;
  readonly #canonicalName: ((name: string) => string) | undefined;
  /** Path from the top to the current node. */
  readonly #path: (string | number)[] = [];

  constructor(protocol: ProtocolName, canonicalName: ((name: string) => string) | undefined) {
    this.#protocol = protocol;
    this.#canonicalName = canonicalName;
  }

  /** Checks the members of a node that have shapes of their own. */
  inside(node: JsonObject, { inside }: MemberShape): void {
    if (inside === undefined) return;
    for (const name in node) {
      const canonical = this.#canonicalName ? this.#canonicalName(name) : name;
      const shape = Object.hasOwn(inside, canonical) ? inside[canonical] : undefined;
      if (shape !== undefined) this.#at(name, node[name], shape);
    }
  }

  #at(step: string | number, value: JsonValue | undefined, shape: Shape): void {
    this.#path.push(step);
    if (isJsonArray(value)) for (let i = 0; i < value.length; i++) this.#at(i, value[i], shape);
    else if (isJsonObject(value)) this.#node(value, shape);
    this.#path.pop();
  }

  #node(node: JsonObject, given: Shape): void {
    const shape = typeof given === 'function' ? given(node) : given;
    if (shape === undefined) return;
    for (const name in node) {
      if (shape.known.has(this.#canonicalName ? this.#canonicalName(name) : name) || saysNothing(node[name]))
        continue;
      if (this.found.length >= MOST_ENTRIES) return;
      this.found.push({
        path: `${pathOf(this.#path)}.${name}`,
        action: 'dropped',
        reason: REASON,
        keptBy: this.#protocol,
        ...(shape.isRewritten && { keptIn: 'relay' }),
      });
    }
    this.inside(node, shape);
  }
}

function saysNothing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (isJsonArray(value) && value.length === 0);
}

function pathOf(steps: readonly (string | number)[]): string {
  let path = '';
  for (const step of steps)
    if (typeof step === 'number') path += `[${step}]`;
    else path += path === '' ? step : `.${step}`;
  return path;
}
