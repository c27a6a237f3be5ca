// The management API, of the same routes and schemas that answer it.
import { ROUTES, type Route } from '../../management/index.ts';
import type { Operation } from '../operation.ts';

export const MANAGEMENT_OPERATIONS: readonly Operation[] = ROUTES.map(operationOf);

function operationOf(route: Route): Operation {
  const { method, path, tag, summary, description, query, body, answer, alsoAs, media } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const answers =
    media === undefined
      ? alsoAs === undefined
        ? answer
        : { 'application/json': answer, ...alsoAs }
      : { [media]: answer };
  return {
    id: idOf(route),
    method,
    path: `/v1/management${path}`,
    tag: `Management: ${tag}`,
    summary,
    description,
    audience: 'admin',
    params: Object.fromEntries(names.map((name) => [name, { description: `The ${name} in question.` }])),
    query,
    body: body && { schema: body, ...(body.safeParse(undefined).success && { isOptional: true }) },
    answers: { [route.status ?? 200]: answers },
    refusals: [...(route.refusals ?? []), ...(route.conditional ? [412] : [])],
    headers: {
      ...(route.conditional && { 'if-match': { description: 'The version to change; absent: any.' } }),
      ...(route.idempotent && {
        'idempotency-key': { description: 'The same request with the same key is answered once.' },
      }),
    },
  };
}

/** `GET /keys/{id}` is `manageGetKeysById`. */
function idOf({ method, path }: Route): string {
  const words = path
    .replace(/\{(\w+)\}/g, 'by_$1')
    .split(/[/_]/)
    .filter(Boolean);
  return `manage${[method, ...words].map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')}`;
}
