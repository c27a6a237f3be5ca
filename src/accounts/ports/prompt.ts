// Port of kept prompt templates; a part of `ports/index.ts`.
import type { JsonObject } from '../../base/json/index.ts';
import type { PageRequest } from './index.ts';
import type { UnixMs } from '../../base/units.ts';

export interface PromptVersion {
  /** `1`, `2`, … in the order of their making; the number of a deleted version is not given again. */
  readonly version: string;
  readonly createdAt: UnixMs;
  readonly template: JsonObject;
}

export interface StoredPrompt {
  readonly id: string;
  readonly projectId: string;
  readonly name: string | null;
  readonly defaultVersion: string;
  readonly createdAt: UnixMs;
  /** Newest first. */
  readonly versions: readonly PromptVersion[];
}

export interface PromptPage {
  readonly prompts: readonly StoredPrompt[];
  readonly hasMore: boolean;
}

export interface PromptStore {
  /** Stores the template as version 1, the default. @throws GatewayError `quota` */
  create(
    prompt: Pick<StoredPrompt, 'id' | 'projectId' | 'name' | 'createdAt'>,
    template: JsonObject,
  ): Promise<void>;
  /** Prompts in the order of their making. @throws GatewayError `invalid_request` for an unknown `after` */
  list(projectId: string, page: PageRequest): Promise<PromptPage>;
  find(projectId: string, id: string): Promise<StoredPrompt | null>;
  /** One version, the default one unless named; null when there is no such prompt or version. */
  findVersion(projectId: string, id: string, version?: string): Promise<PromptVersion | null>;
  /** The number of the new version, which is not the default yet; null when there is no such prompt. @throws GatewayError `quota` */
  addVersion(projectId: string, id: string, template: JsonObject, createdAt: UnixMs): Promise<string | null>;
  /** False when there is no such prompt or version. */
  setDefault(projectId: string, id: string, version: string): Promise<boolean>;
  /** False when there is no such prompt. @throws GatewayError `quota` */
  setName(projectId: string, id: string, name: string | null): Promise<boolean>;
  /** False when there is no such prompt or version. @throws GatewayError `conflict` for the default version */
  deleteVersion(projectId: string, id: string, version: string): Promise<boolean>;
  /** False when there is no such prompt. */
  delete(projectId: string, id: string): Promise<boolean>;
}
