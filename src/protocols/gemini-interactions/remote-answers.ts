// Operations on interactions stored by Google: read, resume a stream, delete, and cancel those that run without a
// connection (API reference, "Interactions", 2026-11).
import { z } from 'zod';
import { asObject, asString, isJsonObject, parseJson } from '../../base/json/index.ts';
import { anyObject, eventStream } from '../members/described-shapes.ts';
import { frameData, replaceData } from '../streams/frame-splitter.ts';
import type { RemoteAnswers } from '../protocol.ts';
import { COLLECTIONS, INTERACTIONS } from './addresses.ts';
import { decodeUsage } from './answers/decode-usage.ts';
import { decodeStatus } from './answers/interaction-status.ts';
import { encodeEnd, encodeFailure } from './answers/encode-event.ts';
import { patchEvent, patchInteraction } from './envelope.ts';

const ONE = {
  ...INTERACTIONS,
  params: { id: { description: 'The id of the interaction.' } },
  refusals: [404],
} as const;

export const remoteAnswers: RemoteAnswers = {
  collections: COLLECTIONS,
  operations: [
    {
      api: 'interactions.get',
      method: 'GET',
      suffix: '',
      query: ['stream', 'last_event_id', 'include_input'],
      describes: {
        ...ONE,
        id: 'getInteraction',
        summary: 'Returns an interaction that Google stores.',
        query: z.object({
          stream: z.string().optional(),
          last_event_id: z.string().optional(),
          include_input: z.string().optional(),
        }),
        alsoAs: { 'text/event-stream': eventStream },
      },
    },
    {
      api: 'interactions.delete',
      method: 'DELETE',
      suffix: '',
      query: [],
      describes: {
        ...ONE,
        id: 'deleteInteraction',
        summary: 'Deletes an interaction that Google stores.',
        answer: anyObject,
      },
    },
    {
      api: 'interactions.cancel',
      method: 'POST',
      suffix: '/cancel',
      query: [],
      describes: {
        ...ONE,
        id: 'cancelInteraction',
        summary: 'Cancels an interaction that runs in the background at Google.',
      },
    },
  ],
  patchAnswer: (bytes, json, names) =>
    isJsonObject(json) && 'id' in json ? patchInteraction(bytes, json, names) : [bytes],
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
