// Validates a template by decoding it like a request of the protocol that supports templates.
import { GatewayError } from '../canonical/index.ts';
import type { PromptTemplate } from '../engine/state/prompt-template.ts';
import { keepingProtocol } from '../protocols/index.ts';
import { storedItems } from './routes/state-routes.ts';

/**
 * Variables remain unsubstituted, because any text is valid here.
 * @param path of the template, for messages
 * @throws GatewayError `invalid_request` naming an invalid member
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
