// Asynchronous answers: the response that the client would have received, once it is complete.
import { generationOf } from '../../base/runtime/ids.ts';
import { z } from 'zod';
import { GatewayError, notFound } from '../../canonical/index.ts';
import { ANSWER_KIND, resultPath } from '../../engine/index.ts';
import type { JobView } from '../../accounts/ports/index.ts';
import { type ClientCall, clientRoute, type ClientRoute } from './client-route.ts';

/** Retry delay, in seconds. */
const RETRY_S = 1;

const resultStatus = z.object({ id: z.string(), object: z.literal('generation.result'), status: z.string() });
const ofOne = { tag: 'Streams', params: { id: { description: 'The id of the generation.' } } } as const;

export const RESULT_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    ...ofOne,
    id: 'retrieveResult',
    method: 'get',
    path: '/generations/{id}/result',
    summary:
      'Returns the response to a request with `Prefer: respond-async`, in the protocol of that request.',
    description:
      '202: the response is not ready. 410: it was cancelled. A failed response has the status and body that a direct request would have had.',
    answer: z.looseObject({}),
    alsoStatus: { 202: resultStatus },
    refusals: [404, 410],
    async run(call) {
      const job = await jobOf(call);
      if (job.endedAt === null) {
        const headers = {
          location: resultPath(job.id),
          'retry-after': String(RETRY_S),
          'x-request-id': job.id,
        };
        return Response.json(resultView(job), { status: 202, headers });
      }
      const made = await call.deps.background.result(call.projectId, job.id);
      if (made) return new Response(made.body, { status: made.status, headers: made.headers });
      throw new GatewayError('not_found', `This response was ${statusOf(job)} and has no result.`, {
        httpStatus: 410,
        code: 'no_result',
      });
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'cancelResult',
    method: 'post',
    path: '/generations/{id}/cancel',
    summary: 'Cancels a request with `Prefer: respond-async`.',
    answer: resultStatus,
    refusals: [404],
    async run(call) {
      const { id } = await jobOf(call);
      await call.deps.background.cancel(call.projectId, id);
      return resultView(await jobOf(call));
    },
  }),
];

async function jobOf({
  deps,
  projectId,
  param,
}: Pick<ClientCall, 'deps' | 'projectId' | 'param'>): Promise<JobView> {
  const id = param('id');
  const job = await deps.background.job(projectId, generationOf(id));
  if (job?.kind === ANSWER_KIND) return job;
  throw notFound('Generation', id);
}

function resultView(job: JobView): z.input<typeof resultStatus> {
  return { id: job.id, object: 'generation.result', status: statusOf(job) };
}

function statusOf({ state }: JobView): string {
  if (state === 'running') return 'in_progress';
  return state === 'waiting' ? 'queued' : state;
}
