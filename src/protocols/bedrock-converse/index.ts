// Amazon Bedrock's Converse API, as spoken to upstreams only: no client speaks it to the gateway. Only puts the parts
// together.
import type { Protocol } from '../protocol.ts';
import { bedrockConverseUpstream } from './upstream.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'bedrock-converse': true;
  }
}

export const bedrockConverse: Protocol = {
  name: 'bedrock-converse',
  upstream: bedrockConverseUpstream,
};
