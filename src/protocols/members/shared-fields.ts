// Rows that the field tables of several protocols share: gateway options and a few common members.
import { boolean, object } from './read-member.ts';

/** Rows of the gateway options. They are never sent to an upstream. @param usage note of `usage` */
export function gatewayFields(usage: string) {
  return [
    { name: 'provider', shape: object.schema, support: 'gateway', note: 'Provider routing and fallback.' },
    { name: 'model_routing_config', shape: object.schema, support: 'gateway', note: 'Model routing.' },
    {
      name: 'models',
      shape: { type: 'array', items: { type: 'string' } },
      support: 'gateway',
      note: 'Fallback models, in order.',
    },
    { name: 'usage', shape: object.schema, support: 'gateway', note: usage },
  ] as const;
}

export const MODEL = {
  name: 'model',
  shape: { type: 'string' },
  support: 'supported',
  note: 'Required. `<provider>/<name>`, a listed id or an alias.',
} as const;

export const STREAM = {
  name: 'stream',
  shape: boolean.schema,
  support: 'supported',
  note: '`true` streams the response.',
} as const;
