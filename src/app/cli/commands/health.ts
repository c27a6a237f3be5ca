// `dragoman health`: checks that the gateway of this configuration accepts requests, for health checks without curl.
import { askOwnHealth } from '../../../base/runtime/own-health.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { parseArguments, type RunCommand } from '../command.ts';
import { HEALTH_OPTIONS } from '../options.ts';
import { originFor } from './own-gateway.ts';
import { errorText } from '../../../base/lib/errors.ts';

const PATIENCE_MS = 5_000;

/** Exit code 0: the gateway accepts requests. 1: it does not, or there was no response within five seconds. */
export const health: RunCommand = async (argv) => {
  const origin = originFor(parseArguments(argv, HEALTH_OPTIONS));
  const { isReady, text } = await askOwnHealth(origin, PATIENCE_MS).catch((error: unknown) => {
    const reason = errorText(error);
    throw new GatewayError('upstream_unavailable', `cannot reach a gateway at ${origin}: ${reason}`);
  });
  process.stdout.write(`${text}\n`);
  return isReady ? 0 : 1;
};
