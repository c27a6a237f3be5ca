// Decodes the body that creates a Gemini batch, without its requests.
import type { JsonObject } from '../../../base/json/index.ts';
import { Problems } from '../../../canonical/index.ts';
import { camelMembers, camelName } from '../camel-members.ts';
import { fileIdOf } from '../files/index.ts';
import { readObject, readString, requireObject } from '../../members/read-member.ts';
import { modelId } from './lines.ts';
import type { BatchMethod } from './methods.ts';

/** Path of the requests in the body. */
export const GEMINI_REQUESTS = {
  path: ['batch', 'inputConfig', 'requests', 'requests'],
  canonicalName: camelName,
} as const;

/** Members that Google's API fills in, and that its clients may send back. */
const FILLED_IN = ['name', 'model', 'state', 'createTime', 'endTime', 'updateTime', 'batchStats', 'output'];

export interface GeminiBatchAsked {
  /** Id of the file with the lines; null: they are in the body. */
  readonly inputFile: string | null;
  readonly facts: JsonObject;
}

/**
 * @param model from the address
 * @param body without its requests
 * @param requests number of requests in the body
 * @throws GatewayError `invalid_request` naming every invalid member
 */
export function decodeGeminiBatch(
  { asks }: BatchMethod,
  model: string,
  body: JsonObject,
  requests: number,
): GeminiBatchAsked {
  const problems = new Problems();
  const batch = camelMembers(requireObject(body['batch'], 'batch', problems) ?? {});
  const { displayName, inputConfig, priority, ...others } = batch;
  for (const name of Object.keys(others))
    if (!FILLED_IN.includes(name)) problems.add(`batch.${name}`, 'is not supported; omit it');
  if (priority !== undefined && String(priority) !== '0')
    problems.add('batch.priority', 'must be 0; priorities are not supported');
  const title = readString(displayName, 'batch.displayName', problems) ?? '';
  const config = camelMembers(readObject(inputConfig, 'batch.inputConfig', problems) ?? {});
  const file = readString(config['fileName'], 'batch.inputConfig.fileName', problems) ?? '';
  if ((file === '') === (requests === 0))
    problems.add('batch.inputConfig', 'must contain either `requests` or `fileName`');
  problems.throwIfAny();
  const isInline = requests > 0;
  const facts = { model: modelId(model), displayName: title, isInline, asks };
  return {
    inputFile: isInline ? null : (fileIdOf(file) ?? file.replace(/^files\//, '')),
    facts: isInline ? { ...facts, requests } : facts,
  };
}
