// Lists of models in the formats of OpenAI, Anthropic and Google.
import { findSimModel, nameInAddress, simMisbehaviours, simModels } from './models.ts';
import type { SimModel } from './models.ts';

/** Fixed date, so that lists do not change between requests. */
const CREATED = '2026-01-01T00:00:00Z';

type Listed = Readonly<Record<string, unknown>>;

/** Format of a model, by path prefix. */
const VENDORS: Readonly<Record<string, (model: SimModel) => Listed>> = {
  'openai/v1': openaiModel,
  'anthropic/v1': anthropicModel,
  'google/v1': googleModel,
  'google/v1beta': googleModel,
};

/** Response to GET `/openai/v1/models` and similar paths, or for one model; null for other paths. */
export function encodeModels(pathname: string): Response | null {
  const [, vendor, version, models, ...rest] = pathname.split('/');
  const place = `${vendor}/${version}`;
  const encode = Object.hasOwn(VENDORS, place) ? VENDORS[place] : undefined;
  if (encode === undefined || models !== 'models') return null;
  if (rest.length > 0) {
    const model = findSimModel(nameInAddress(rest.join('/')));
    return model && Response.json(encode(model));
  }
  const listed = [...simModels, ...simMisbehaviours];
  const data = listed.map(encode);
  if (vendor === 'openai') return Response.json({ object: 'list', data });
  if (vendor === 'google') return Response.json({ models: data });
  return Response.json({
    data,
    has_more: false,
    first_id: listed[0]?.name ?? null,
    last_id: listed.at(-1)?.name ?? null,
  });
}

function openaiModel(model: SimModel): Listed {
  return { id: model.name, object: 'model', created: Date.parse(CREATED) / 1000, owned_by: 'sim' };
}

function anthropicModel(model: SimModel): Listed {
  return { type: 'model', id: model.name, display_name: model.name, created_at: CREATED };
}

function googleModel({ name, description, contextLength, maxOutputTokens }: SimModel): Listed {
  return {
    name: `models/${name}`,
    displayName: name,
    description,
    inputTokenLimit: contextLength,
    outputTokenLimit: maxOutputTokens,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  };
}
