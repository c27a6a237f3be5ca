// A gateway with a model behind each protocol that upstreams speak: what every client library is tried with. A new
// protocol gets a name here, and all of them meet it. Knows no client.
import { startGateway, type TestGateway } from '../harness.ts';
import { CONVERSE_MODEL, serveConverseSim } from './converse-sim.ts';

/** Bedrock's Converse; Claude runs behind it. */
export const CONVERSE = 'house/converse';

/** One model for each protocol that upstreams speak. */
export const UPSTREAMS = ['sim/chat', 'sim/responses', 'sim/messages', 'sim/gemini', CONVERSE] as const;

/** And one that speaks a dialect of Chat Completions: with plain reasoning, and without schemas. */
export const DIALECTS = [...UPSTREAMS, 'sim/deepseek'] as const;

/** Starts the gateway and what is behind it. @param config as `startGateway` takes it */
export async function startEveryUpstream(
  config: Readonly<Record<string, unknown>> = {},
): Promise<TestGateway> {
  const converse = serveConverseSim();
  const gateway = await startGateway({
    ...config,
    providers: {
      bedrock: { region: 'eu-west-1', api_key: 'sk-test', base_url: converse.origin },
      ...(config['providers'] as object | undefined),
    },
    models: [
      {
        id: CONVERSE,
        max_output_tokens: 16_000,
        endpoints: [
          { provider: 'bedrock', model: CONVERSE_MODEL, protocol: 'bedrock-converse', reasoning: 'both' },
        ],
      },
      ...((config['models'] as readonly object[] | undefined) ?? []),
    ],
  });
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await converse.stop();
    },
  };
}
