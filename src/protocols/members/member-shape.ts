// Members below the top of a request body that no canonical node holds: the one place that finds them, for every
// protocol. Each says by a shape which members its nodes have; what those mean is its decoders' business.
import { isJsonArray, isJsonObject } from '../../base/json/index.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { TranslationLoss, ProtocolName } from '../../canonical/index.ts';

/** A node, or the elements of a list of such nodes. */
export interface MemberShape {
  /** Members that the canonical form holds, or that mean nothing elsewhere. */
  readonly known: ReadonlySet<string>;
  /** Shapes of known members that are nodes themselves. */
  readonly inside?: Readonly<Record<string, Shape>>;
  /** True: an encoder of the same protocol writes the node anew, without its unknown members. */
  readonly isRewritten?: true;
}
/** Shape that depends on the node; undefined for nodes that only their own protocol knows, which are reported as a whole. */
export type Shape = MemberShape | ((node: JsonObject) => MemberShape | undefined);

/** A shape of these members. @param names with a space between them */
export function members(names: string, inside: MemberShape['inside'] = {}): MemberShape {
  return { known: new Set(names.split(' ')), inside };
}

/** The same for a node that encoders of its own protocol write anew. */
export function rewritten(names: string, inside?: MemberShape['inside']): MemberShape {
  return { ...members(names, inside), isRewritten: true };
}

/** A report keeps no more. */
const MOST_ENTRIES = 500;
const REASON = 'has no place where the request is written anew';

/**
 * Finds the members of a decoded body that its shape does not know; undefined where there are none. Members that say nothing (null, an empty text or
 * list) are left out. Costs nothing but a look at each name while there are none.
 * @param spell brings a name to the spelling of the shapes, where the protocol has several
 */
export function unknownBelow(
  body: JsonObject,
  shape: MemberShape,
  protocol: ProtocolName,
  spell?: (name: string) => string,
): readonly TranslationLoss[] | undefined {
  const search = new Search(protocol, spell);
  search.inside(body, shape);
  return search.found.length > 0 ? search.found : undefined;
}

class Search {
  readonly found: TranslationLoss[] = [];
  readonly #protocol: ProtocolName;
  readonly #spell: ((name: string) => string) | undefined;
  /** Names and places from the top to the node that is looked at. */
  readonly #path: (string | number)[] = [];

  constructor(protocol: ProtocolName, spell: ((name: string) => string) | undefined) {
    this.#protocol = protocol;
    this.#spell = spell;
  }

  /** Looks into the members of a node that have shapes of their own. */
  inside(node: JsonObject, { inside }: MemberShape): void {
    if (inside === undefined) return;
    for (const name in node) {
      const spelt = this.#spell ? this.#spell(name) : name;
      const shape = Object.hasOwn(inside, spelt) ? inside[spelt] : undefined;
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
      if (shape.known.has(this.#spell ? this.#spell(name) : name) || saysNothing(node[name])) continue;
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
