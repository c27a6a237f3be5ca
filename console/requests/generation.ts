// One request, as the management API describes it.
import type { Answer } from '../api/client.ts';

export type Generation = Answer<'GET /generations/{id}'>;
