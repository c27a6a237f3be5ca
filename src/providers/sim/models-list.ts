// The lists of models as OpenAI and Anthropic give them. Knows only the model data.
import { findSimModel, simMisbehaviours, simModels } from './models.ts';
import type { SimModel } from './models.ts';

/** A fixed birthday: lists must not change from one request to the next. */
const CREATED = '2026-01-01T00:00:00Z';

/** The answer to a GET of `/openai/v1/models` or `/anthropic/v1/models`, or of one model; null for other paths. */
export function encodeModels(pathname: string): Response | null {
  const [, vendor, version, models, ...rest] = pathname.split('/');
  if ((vendor !== 'openai' && vendor !== 'anthropic') || version !== 'v1' || models !== 'models') return null;
  const encode = vendor === 'openai' ? openaiModel : anthropicModel;
  if (rest.length > 0) {
    const model = findSimModel(decodeURIComponent(rest.join('/')));
    return model && Response.json(encode(model));
  }
  const data = [...simModels, ...simMisbehaviours].map(encode);
  if (vendor === 'openai') return Response.json({ object: 'list', data });
  return Response.json({
    data,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  });
}

function openaiModel(model: SimModel): { id: string } & Record<string, unknown> {
  return { id: model.name, object: 'model', created: Date.parse(CREATED) / 1000, owned_by: 'sim' };
}

function anthropicModel(model: SimModel): { id: string } & Record<string, unknown> {
  return { type: 'model', id: model.name, display_name: model.name, created_at: CREATED };
}
