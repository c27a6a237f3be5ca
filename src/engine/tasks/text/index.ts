// Text: what a model says. The one task whose answers are streamed, stored, continued and given tools, and whose addresses are
// those of the protocols themselves.
import { estimatedInputTokens } from '../../../accounts/ledger/index.ts';
import { withoutStreamOptions } from '../../admit/index.ts';
import type { Task } from '../task.ts';
import { Run } from './run.ts';

export const text: Task = {
  name: 'text',
  clients: [],
  isRecorded: true,
  answer: (call, { deps, shared, recorded }) =>
    recorded(call, (arrival, clientConnection) => new Run(arrival, clientConnection, deps, shared).answer()),
  explain({ protocol, json, route, bodyChars }, { config }) {
    const asked = (config.compatibility.ignoreStreamOptions && withoutStreamOptions(json)) || json;
    const request = protocol.server.decodeRequest(asked, route);
    return { request, inputChars: bodyChars, inputTokens: () => estimatedInputTokens(request) };
  },
};
