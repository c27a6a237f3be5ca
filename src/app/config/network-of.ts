// Network settings from environment variables and certificate files. Errors name the setting without its value, because
// proxy addresses contain passwords.
import { TEXTS } from '../../canonical/index.ts';
import { type Network, readNetwork } from '../../upstream/network.ts';
import { holdsCertificates } from '../../upstream/pem.ts';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';
import { errorText } from '../../base/lib/errors.ts';

export interface NetworkInput {
  readonly environment: Environment;
  readonly readFile: (path: string) => string;
}

/**
 * @param ca paths of PEM files, as `upstream.ca` has them
 * @throws ConfigError
 */
export function networkOf(ca: string | readonly string[], { environment, readFile }: NetworkInput): Network {
  const texts = (typeof ca === 'string' ? [ca] : ca).map((path) => {
    const text = readNamed(path, readFile);
    if (!holdsCertificates(text)) throw new ConfigError('upstream.ca', `${path} ${TEXTS.mustBeCertificates}`);
    return text;
  });
  return readNetwork(environment, texts, (variable, problem) => {
    throw new ConfigError('', `the environment variable ${variable} ${problem}`);
  });
}

function readNamed(path: string, readFile: NetworkInput['readFile']): string {
  try {
    return readFile(path);
  } catch (error) {
    const reason = errorText(error);
    throw new ConfigError('upstream.ca', TEXTS.cannotRead(path, reason));
  }
}
