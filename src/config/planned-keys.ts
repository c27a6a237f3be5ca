// Keys whose names are settled and whose use is not there yet: who sets one is told, and is not left to believe in it.
import type { Config } from './config.ts';

/** A sentence for each that is set. */
export function plannedKeys({ redisUrl }: Config): readonly string[] {
  const planned: readonly (readonly [string, boolean, string])[] = [
    ['redis_url', redisUrl !== null, 'what is counted is counted in this process alone'],
  ];
  return planned.flatMap(([key, isSet, what]) =>
    isSet ? [`${key} is set, and has no effect in this version: ${what}`] : [],
  );
}
