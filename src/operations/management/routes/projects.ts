// Projects: create, list, change, archive. They are never deleted, so that their data keeps its owner.
import { TEXTS } from '../../../canonical/index.ts';
import { budgetsSchema, limitsSchema, projectNameSchema } from '../../../accounts/schema/index.ts';
import { z } from 'zod';
import { projectJson, type ProjectView } from '../../../accounts/auth/index.ts';
import { changeOf } from '../change-of.ts';
import { isFound, listOf, PAGE, pageOfBoth, SEARCH } from '../page.ts';
import { route, type RawCall, type Route } from '../route.ts';

const projectSchema = z.object({
  object: z.literal('project'),
  id: z.string().describe('Its name.'),
  state: z.enum(['active', 'archived']),
  source: z.enum(['file', 'database']).describe(TEXTS.changedInFile),
  created_at: z.iso.datetime().nullable(),
  updated_at: z.iso.datetime().nullable(),
  archived_at: z.iso.datetime().nullable().describe('Since when its keys are refused.'),
  limits: limitsSchema,
  budgets: budgetsSchema,
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
      search: SEARCH.describe('Only those whose name contains this text, in small letters or capitals.'),
    }),
    answer: listOf(projectSchema),
    run: async ({ projects, query }) => {
      const isArchived = query.state === undefined ? undefined : query.state === 'archived';
      const { search } = query;
      const page = await pageOfBoth(
        isArchived === true ? [] : projects.configured().filter(({ id }) => isFound(search, id)),
        (part) => projects.list({ ...part, isArchived, search }),
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
    run: async ({ deps, projects, body }) => {
      const made = await projects.create(body);
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
    run: async ({ projects, param }) => viewOf(await projects.find(param('id'))),
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
    run: (call) => changed(call, (name, condition) => call.projects.change(name, call.body, condition)),
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
    run: (call) => changed(call, (name, condition) => call.projects.archive(name, condition)),
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
    run: (call) => changed(call, (name, condition) => call.projects.restore(name, condition)),
  }),
];

async function changed(
  call: Pick<RawCall, 'deps' | 'projects' | 'param' | 'ifMatch'>,
  change: (name: string, condition: { readonly ifVersion?: number | undefined }) => Promise<ProjectView>,
): Promise<z.input<typeof projectSchema>> {
  const before = await call.projects.find(call.param('id'));
  return viewOf(await changeOf(call, before, (condition) => change(before.id, condition)));
}

function viewOf(project: ProjectView): z.input<typeof projectSchema> {
  return projectJson(project) as z.input<typeof projectSchema>;
}
