// The models that a place of upstreams lists itself, by one short question. Knows no catalog and keeps nothing.
import { asArray, asObject, asString, isJsonObject, parseJson, type JsonObject } from '../base/json/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import { findProtocol } from '../protocols/index.ts';
import { askUpstream } from './attempt/index.ts';

type Asking = Omit<Parameters<typeof askUpstream>[2], 'onLeave'>;

/** Entry of a provider's list for one model: its name and whatever else. */
export type Listed = ReadonlyMap<string, JsonObject>;

/**
 * The models that a place lists; null when it gives no list.
 * @param endpoint any endpoint of the place
 */
export async function listModels(endpoint: Endpoint | undefined, asking: Asking): Promise<Listed | null> {
  if (!endpoint) return null;
  const protocol = findProtocol(endpoint.protocol);
  const path = protocol?.upstream.facts.modelList ?? null;
  // A host of another vendor's protocol, or one that wants signatures, has its list elsewhere.
  if (path === null || !protocol || endpoint.hosting || endpoint.credential) return null;
  const answer = await askUpstream(
    endpoint,
    {
      method: 'GET',
      url: endpoint.baseUrl + path,
      body: [],
    },
    { ...asking, onLeave: () => {} },
  );
  if (!answer || answer.head.status !== 200) return null;
  const body = asObject(parseJson(answer.text));
  const list = body['data'] ?? body['models'];
  if (!Array.isArray(list)) return null;
  return new Map(
    asArray(list)
      .filter(isJsonObject)
      .map((entry) => [nameOf(entry), entry]),
  );
}

/** Gemini's names begin with `models/`. */
function nameOf(entry: JsonObject): string {
  return asString(entry['id']) ?? asString(entry['name'])?.replace(/^models\//, '') ?? '';
}
