// A request to a scene's gateway whose upstream speaks a given protocol, and what the upstream got.
import { TEST_KEY } from '../harness.ts';
import { whole } from './answers.ts';
import { dialect, type UpstreamProtocol } from './dialects.ts';
import type { Scene } from './gateway-with-upstreams.ts';

const MODELS: Readonly<Record<UpstreamProtocol, string>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  gemini: 'gemini',
};

export interface AskedOver {
  readonly status: number;
  /** Error of the response, or its message if it has no other form. */
  readonly error: unknown;
  /** Body that the upstream got first. `undefined`: it was not called. */
  readonly sent: string | undefined;
}

/** @param path of the client's protocol; `MODEL` in it stands for the model */
export async function askOver(
  scene: Scene,
  protocol: UpstreamProtocol,
  path: string,
  body: object,
): Promise<AskedOver> {
  const upstream = scene.upstream('up');
  upstream.always(whole(dialect(protocol, 'm').whole('ok')));
  const model = MODELS[protocol];
  const response = await fetch(scene.gateway.origin + path.replace('MODEL', model), {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(path.includes('MODEL') ? body : { model: `one/${model}`, ...body }),
  });
  const { error, message } = (await response.json()) as { error?: object; message?: string };
  return { status: response.status, error: error ?? message, sent: upstream.requests[0]?.text };
}
