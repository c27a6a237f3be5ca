// Projects: made, listed, changed, archived. They are never deleted: what belongs to one keeps its owner.
import { z } from 'zod';
import type { ProjectView } from '../../auth/index.ts';
import type { JsonObject } from '../../canonical/index.ts';
import { budgetsSchema, limitsSchema, projectNameSchema } from '../../config/index.ts';
import { changeOf } from '../change-of.ts';
import { limitsOfOwner, limitsView } from '../limits-view.ts';
import { listOf, PAGE, pageOfBoth } from '../page.ts';
import { route, type RawCall, type Route } from '../route.ts';
import { isoTime } from '../time.ts';

const projectSchema = z.object({
  object: z.literal('project'),
  id: z.string().describe('Its name.'),
  state: z.enum(['active', 'archived']),
  source: z.enum(['file', 'database']).describe('What the file defines is changed there alone.'),
  created_at: z.iso.datetime().nullable(),
  updated_at: z.iso.datetime().nullable(),
  archived_at: z.iso.datetime().nullable().describe('Since when its keys are refused.'),
  ...limitsOfOwner,
  version: z.int().nullable().describe('Grows with each change; the `ETag`. Null for a project of the file.'),
});

const settings = {
  limits: limitsSchema.optional().describe('What its keys together may use.'),
  budgets: budgetsSchema.optional().describe('How much they may cost.'),
};

export const PROJECT_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/projects',
    tag: 'Projects',
    summary:
      'All projects: those of the configuration file first, then the stored ones in the order of their making.',
    query: z.strictObject({
      ...PAGE,
      state: z.enum(['active', 'archived']).optional().describe('Only those that are in use, or archived.'),
    }),
    answer: listOf(projectSchema),
    run: async ({ deps: { projects }, query }) => {
      const isArchived = query.state === undefined ? undefined : query.state === 'archived';
      const page = await pageOfBoth(
        isArchived === true ? [] : projects.configured(),
        async (part) => {
          const { projects: entries, hasMore } = await projects.list({ ...part, isArchived });
          return { entries, hasMore };
        },
        ({ id }) => id,
        query,
      );
      return { ...page, data: page.data.map(viewOf) };
    },
  }),
  route({
    method: 'post',
    path: '/projects',
    tag: 'Projects',
    summary: 'Makes a project. A name is given once.',
    body: z.strictObject({ name: projectNameSchema, ...settings }),
    answer: projectSchema,
    status: 201,
    refusals: [409],
    tagged: true,
    idempotent: true,
    run: async ({ deps, body, record }) => {
      const made = await deps.projects.create(body);
      await record({ action: 'project.create', target: made.id, before: null, after: told(made) });
      await deps.tenantsChanged();
      return viewOf(made);
    },
  }),
  route({
    method: 'get',
    path: '/projects/{id}',
    tag: 'Projects',
    summary: 'One project, by its name.',
    answer: projectSchema,
    refusals: [404],
    tagged: true,
    run: async ({ deps, param }) => viewOf(await deps.projects.find(param('id'))),
  }),
  route({
    method: 'patch',
    path: '/projects/{id}',
    tag: 'Projects',
    summary: 'Changes limits and budgets; what is absent stays as it is.',
    body: z.strictObject(settings),
    answer: projectSchema,
    refusals: [404, 409],
    tagged: true,
    conditional: true,
    run: (call) =>
      changed(call, 'change', (name, condition) => call.deps.projects.change(name, call.body, condition)),
  }),
  route({
    method: 'post',
    path: '/projects/{id}/archive',
    tag: 'Projects',
    summary: 'Refuses all keys of a project from now on. What it has is kept.',
    answer: projectSchema,
    refusals: [404, 409],
    tagged: true,
    conditional: true,
    run: (call) => changed(call, 'archive', (name, condition) => call.deps.projects.archive(name, condition)),
  }),
  route({
    method: 'post',
    path: '/projects/{id}/restore',
    tag: 'Projects',
    summary: 'Takes an archived project into use again.',
    answer: projectSchema,
    refusals: [404, 409],
    tagged: true,
    conditional: true,
    run: (call) => changed(call, 'restore', (name, condition) => call.deps.projects.restore(name, condition)),
  }),
];

async function changed(
  call: Pick<RawCall, 'deps' | 'param' | 'ifMatch' | 'record'>,
  action: string,
  change: (name: string, condition: { readonly ifVersion?: number | undefined }) => Promise<ProjectView>,
): Promise<z.input<typeof projectSchema>> {
  const before = await call.deps.projects.find(call.param('id'));
  const project = await changeOf({
    call,
    action: `project.${action}`,
    target: before.id,
    before,
    change: (condition) => change(before.id, condition),
    told,
  });
  return viewOf(project);
}

function viewOf(project: ProjectView): z.input<typeof projectSchema> {
  return {
    object: 'project',
    id: project.id,
    state: project.state,
    source: project.source,
    created_at: isoTime(project.createdAt),
    updated_at: isoTime(project.updatedAt),
    archived_at: isoTime(project.archivedAt),
    ...limitsView(project),
    version: project.version,
  };
}

function told(project: ProjectView): JsonObject {
  return viewOf(project) as unknown as JsonObject;
}
