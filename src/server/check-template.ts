// Whether a template could be used: what it holds besides its own parts must be what a request may say. Owns no rule of
// its own: the protocol that takes templates decodes it like a request.
import { GatewayError } from '../canonical/index.ts';
import type { PromptTemplate } from '../engine/state/prompt-template.ts';
import { keepingProtocol } from '../protocols/index.ts';
import { storedItems } from './routes/state-routes.ts';

/**
 * Variables stand for themselves here: any text will do.
 * @param path where the template stands, for messages
 * @throws GatewayError `invalid_request` naming what no request could say
 */
export function checkTemplate({ input, defaults }: PromptTemplate, path = 'template'): void {
  try {
    storedItems.decode(input, 'input');
    keepingProtocol.server.decodeRequest({ model: 'any', input: 'any', ...defaults });
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    if (error.kind === 'internal') throw thrown;
    const param = error.param === undefined ? path : `${path}.${error.param}`;
    throw new GatewayError(error.kind, `${path}.${error.message}`, { param });
  }
}
