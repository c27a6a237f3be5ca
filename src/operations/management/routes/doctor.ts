// Probe results of endpoints. Running probes costs money, so that the cost can be queried first.
import { z } from 'zod';
import { formatDiagnosis, type Diagnosis } from '../../doctor/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { listOf, PAGE, pageOf } from '../page.ts';
import { route, type Route } from '../route.ts';

const diagnosisSchema = z.object({
  object: z.literal('doctor.diagnosis'),
  id: z.string().describe('Id in this list; stable for the same provider, address, model and protocol.'),
  provider: z.string(),
  protocol: z.string(),
  model: z.string().describe('Name of the model at the provider.'),
  base_url: z.string().describe('Address that was probed. Results apply only to this address.'),
  model_id: z.string().nullable().describe('Model that is currently served there; null: none.'),
  slug: z.string().nullable().describe('Name of its endpoint in requests and records; null: none.'),
  probed_at: z.iso.datetime(),
  probes: z.int().describe('Version of the set of probes.'),
  facts: z
    .object({
      quirks: z.record(z.string(), z.union([z.string(), z.boolean()])),
      supported: z.array(z.string()).describe('Supported parameters.'),
      unsupported: z.array(z.string()).describe('Unsupported parameters.'),
      reasoning: z.string().optional(),
      reasoning_mandatory: z.boolean().optional(),
      context_length: z.number().optional().describe('Tokens.'),
    })
    .describe('Facts that the gateway uses, unless the configuration overrides them.'),
  findings: z.array(
    z.object({
      probe: z.string(),
      title: z.string().describe('The question.'),
      outcome: z.enum(['yes', 'no', 'unknown']),
      value: z.string().optional(),
      detail: z.string(),
    }),
  ),
});

/** Provider and model to probe. */
const target = z.strictObject({
  provider: z.string().max(200),
  model: z.string().max(200).describe('Id of the model.'),
});

export const DOCTOR_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/doctor/findings',
    tag: 'Providers',
    summary: 'Lists the probe results of endpoints, by provider and model.',
    query: z.strictObject({
      ...PAGE,
      provider: z.string().optional().describe('Only results of this provider.'),
      model: z
        .string()
        .max(200)
        .optional()
        .describe('Only results of models with this name at the provider.'),
    }),
    answer: listOf(diagnosisSchema),
    run: ({ deps, query }) => {
      const found = deps
        .findings()
        .filter(({ provider }) => query.provider === undefined || provider === query.provider)
        .filter(({ model }) => query.model === undefined || model === query.model)
        .toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
      const page = pageOf(found, idOf, query);
      return { ...page, data: page.data.map((diagnosis) => viewOf(diagnosis, deps)) };
    },
  }),
  route({
    method: 'get',
    path: '/doctor/plan',
    tag: 'Providers',
    summary: 'Returns the maximum cost of probing a model at a provider. Does not call an upstream.',
    query: target,
    answer: z.object({
      object: z.literal('doctor.plan'),
      requests: z.int(),
      tokens: z.int().describe('Total of prompt and completion tokens.'),
      cost_usd: z.number().nullable().describe('Null: the price is unknown.'),
      stored: z.boolean().describe('False: results are not stored, because the provider is built in.'),
    }),
    run: async ({ deps, query: { provider, model } }) => {
      const { requests, tokens, usd, isKept } = deps.probes.plan(provider, model);
      return { object: 'doctor.plan' as const, requests, tokens, cost_usd: usd, stored: isKept };
    },
  }),
  route({
    method: 'post',
    path: '/doctor/probes',
    tag: 'Providers',
    summary: 'Probes a model at a provider and stores the results.',
    description:
      'Sends about twenty small requests, which cost at most the amount of `GET /doctor/plan`. Responds when all probes have finished, which can take minutes. Results of an endpoint that did not respond are not stored.',
    body: target,
    answer: diagnosisSchema,
    run: async ({ deps, body: { provider, model }, reader, record }) => {
      reader.stays();
      await record({ action: 'doctor.probe', target: `${provider}/${model}`, before: null, after: null });
      return viewOf(await deps.probes.run(provider, model), deps);
    },
  }),
];

function idOf({ provider, model, protocol }: Diagnosis): string {
  return `${provider}/${model}:${protocol}`;
}

function viewOf(diagnosis: Diagnosis, { catalog }: ManagementDependencies): z.input<typeof diagnosisSchema> {
  const { provider, protocol, model, baseUrl } = diagnosis;
  const known = catalog();
  // A model is looked up by its own id, and if that is not listed, by the provider's name for it.
  const asProvided = known.hasProvider(provider) ? known.find(`${provider}/${model}`) : undefined;
  const endpoint = [...known.known(), ...(asProvided ? [asProvided] : [])]
    .flatMap(({ endpoints }) => endpoints)
    .find(
      (one) =>
        one.provider === provider &&
        one.protocol === protocol &&
        one.model === model &&
        one.baseUrl === baseUrl,
    );
  return {
    ...(formatDiagnosis(diagnosis) as Omit<z.input<typeof diagnosisSchema>, 'object' | 'id'>),
    object: 'doctor.diagnosis',
    id: idOf(diagnosis),
    model_id: endpoint?.modelId ?? null,
    slug: endpoint?.slug ?? null,
  };
}
