// What clients do with interactions that stay at Google: read them again, read on in their streams, delete them, stop
// those that run without a listener (API reference, "Interactions", 2026-11).
import { asObject, asString, isJsonObject, parseJson } from '../../canonical/index.ts';
import { frameData, replaceData } from '../frame-splitter.ts';
import type { RemoteAnswers } from '../protocol.ts';
import { COLLECTIONS } from './addresses.ts';
import { decodeUsage } from './decode-usage.ts';
import { decodeStatus } from './interaction-status.ts';
import { encodeEnd, encodeFailure } from './encode-event.ts';
import { patchEvent, patchInteraction } from './envelope.ts';

export const remoteAnswers: RemoteAnswers = {
  collections: COLLECTIONS,
  operations: [
    {
      api: 'interactions.get',
      method: 'GET',
      suffix: '',
      query: ['stream', 'last_event_id', 'include_input'],
    },
    { api: 'interactions.delete', method: 'DELETE', suffix: '', query: [] },
    { api: 'interactions.cancel', method: 'POST', suffix: '/cancel', query: [] },
  ],
  patchAnswer: (json, names) =>
    isJsonObject(parseJson(json)) && json.includes('"id"') ? patchInteraction(json, names) : json,
  failureFrames: (error) => encodeEnd('error', { error: encodeFailure(error) }),
  countsIn(text) {
    if (!text.includes('"usage"')) return undefined;
    const json = asObject(parseJson(text.startsWith('{') ? text : frameData(text)));
    const { usage, status, service_tier: tier } = asObject(json['interaction'] ?? json);
    if (!isJsonObject(usage) || decodeStatus(asString(status) ?? '') === 'pending') return undefined;
    return { usage: decodeUsage(usage), serviceTier: asString(tier) };
  },
  patchFrame(frame, names) {
    const data = frameData(frame);
    const event = parseJson(data);
    return isJsonObject(event) ? replaceData(frame, data, patchEvent(data, event, names)) : frame;
  },
};
