// Addresses outside of media parts: in parts specific to one protocol, such as `video_url`, and in captured screens.
// Finds and replaces them.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { Item, Part } from '../../canonical/index.ts';
import { asObject, asString, isJsonObject } from '../../base/json/index.ts';
import { withScreenshot } from '../../protocols/index.ts';
import { partsOf } from './item-parts.ts';

/** Members that contain addresses: `url`, `video_url`, `fileUri`. */
const MEMBER = /ur[il]$/i;
/** Any scheme (RFC 3986, section 3.1) except `data:`. */
const ADDRESS = /^(?!data:)[a-z][a-z0-9+.-]*:/i;

/** An address, and the JSON path of its container. */
export interface Address {
  readonly url: string;
  readonly path: string | undefined;
}

/** True for an item that may hold such addresses. */
export function mayHideAddresses(item: Item): boolean {
  return screenOf(item) !== undefined || partsOf(item).some((part) => part.type === 'unknown');
}

/** The addresses of an item, each with its path. */
export function hiddenAddresses(item: Item): readonly Address[] {
  const screen = screenOf(item);
  if (screen !== undefined) return [{ url: screen, path: item.path }];
  return partsOf(item).flatMap((part) => {
    const found: string[] = [];
    if (part.type === 'unknown') mapAddresses(part.source.raw, (url) => (found.push(url), url));
    return found.map((url) => ({ url, path: part.path }));
  });
}

/** The item with each address replaced, usually by the content. */
export function withoutAddresses(item: Item, replace: (url: string) => string): Item {
  const screen = screenOf(item);
  if (screen !== undefined) return withScreenshot(item, replace(screen));
  if (!('parts' in item) || hiddenAddresses(item).length === 0) return item;
  const parts = item.parts.map((part): Part => {
    if (part.type !== 'unknown') return part;
    const { protocol, raw } = part.source;
    return { ...part, source: { protocol, raw: mapAddresses(raw, replace) as JsonObject } };
  });
  return { ...item, parts, source: undefined };
}

/** The address of a captured screen (`computer_call_output` of the Responses API). */
function screenOf(item: Item): string | undefined {
  if (item.type !== 'hosted_call' || item.kind !== 'computer_call_output') return undefined;
  const url = asString(asObject(item.source?.raw['output'])['image_url']);
  return url !== undefined && ADDRESS.test(url) ? url : undefined;
}

function mapAddresses(value: JsonValue | undefined, replace: (url: string) => string): JsonValue {
  if (Array.isArray(value)) return value.map((each) => mapAddresses(each, replace));
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      typeof inner === 'string' && MEMBER.test(name) && ADDRESS.test(inner)
        ? replace(inner)
        : mapAddresses(inner, replace),
    ]),
  );
}
