// `diagnostics.previous_message_id`: the client's previous answer, whose prompt the upstream compares with this one
// (API reference "Create a Message", 2026-11). Clients use the gateway's id, upstreams their own.
import { asObject, asString } from '../../../base/json/index.ts';
import type { EarlierAnswer } from '../../protocol.ts';
import { generationOf } from './encode-envelope.ts';

export const earlierAnswer: EarlierAnswer = {
  namedBy: ({ diagnostics }) => generationOf(asString(asObject(diagnostics)['previous_message_id']) ?? ''),
  renamed: ({ diagnostics }, upstreamId) => ({
    diagnostics: { ...asObject(diagnostics), previous_message_id: upstreamId },
  }),
};
