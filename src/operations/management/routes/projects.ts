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
  archived_at: z.iso.datetime().nullable().describe('Time since which its keys are refused.'),
  limits: limitsSchema,
  budgets: budgetsSchema,
  version: z
    .int()
    .nullable()
    .describe('Increases with each change; used as `ETag`. Null for projects of the configuration file.'),
});

const settings = {
  limits: limitsSchema.optional().describe('Limits of all its keys together.'),
  budgets: budgetsSchema.optional().describe('Budgets of all its keys together.'),
};

export const PROJECT_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/projects',
    tag: 'Projects',
    summary:
      'Lists projects: those of the configuration file first, then stored projects by time of creation.',
    query: z.strictObject({
      ...PAGE,
      state: z.enum(['active', 'archived']).optional().describe('Only active or only archived projects.'),
      search: SEARCH.describe('Only projects whose name contains this text (case-insensitive).'),
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
    summary: 'Creates a project. Names cannot be reused.',
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
    summary: 'Returns one project, by name.',
    answer: projectSchema,
    refusals: [404],
    tagged: true,
    run: async ({ projects, param }) => viewOf(await projects.find(param('id'))),
  }),
  route({
    method: 'patch',
    path: '/projects/{id}',
    tag: 'Projects',
    summary: 'Changes limits and budgets of a project. Omitted members stay unchanged.',
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
    summary: 'Archives a project: its keys are refused, its data is kept.',
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
    summary: 'Restores an archived project.',
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
