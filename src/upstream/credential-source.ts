// Sources of credentials that are not simply a key: facts that the catalog found when the configuration was loaded,
// and addresses to fetch from. Types only; knows no provider.
import type { Secret } from '../base/telemetry/secret.ts';

/** Keys of an AWS account. */
export type AwsKeySource =
  | {
      readonly from: 'given';
      readonly accessKeyId: string;
      readonly secretAccessKey: Secret;
      /** Session of temporary keys. Null: lasting ones. */
      readonly sessionToken: Secret | null;
    }
  | {
      /** The metadata service of an EC2 instance. */
      readonly from: 'instance';
      /** Address without a path. */
      readonly url: string;
    }
  | {
      /** The agent of a container: ECS, EKS Pod Identity. */
      readonly from: 'container';
      readonly url: string;
      /** Value of `authorization`, as it is. Null: none. */
      readonly token: Secret | null;
      /** A file that holds it: it changes, and is read each time. */
      readonly tokenFile: string | null;
    }
  | {
      /** A role, for a token that an identity provider writes into a file (EKS, CI). */
      readonly from: 'web-identity';
      readonly roleArn: string;
      readonly sessionName: string;
      readonly tokenFile: string;
      /** Address of STS. */
      readonly url: string;
    }
  | {
      /** A role, for other keys. */
      readonly from: 'role';
      readonly roleArn: string;
      readonly sessionName: string;
      readonly externalId: string | null;
      readonly base: AwsKeySource;
      /** Address of STS. */
      readonly url: string;
      readonly region: string;
    };

/** Access tokens of Google and of Microsoft Entra. */
export type TokenSource =
  | {
      /** A service account's key file. */
      readonly from: 'google-service-account';
      readonly email: string;
      /** PEM, PKCS #8. */
      readonly privateKey: Secret;
      readonly privateKeyId: string | null;
      readonly tokenUrl: string;
    }
  | {
      /** A person who logged in with `gcloud auth application-default login`. */
      readonly from: 'google-user';
      readonly clientId: string;
      readonly clientSecret: Secret;
      readonly refreshToken: Secret;
      readonly tokenUrl: string;
      /** The project that pays; null: the one in the address. */
      readonly quotaProject: string | null;
    }
  | {
      /** An identity of another provider, which Google trusts. */
      readonly from: 'google-federation';
      readonly audience: string;
      /** Kind of the other provider's token, as RFC 8693 names kinds. */
      readonly subjectTokenType: string;
      /** A path, or an address that is asked with these headers. */
      readonly subject:
        | { readonly file: string }
        | { readonly url: string; readonly headers: Readonly<Record<string, string>> };
      /** Member that holds the token where the subject is JSON; null: it is the token. */
      readonly field: string | null;
      readonly tokenUrl: string;
      /** Address at which the token is exchanged for one of a service account. Null: the token itself is used. */
      readonly impersonationUrl: string | null;
    }
  | {
      /** The metadata server of a Google machine. */
      readonly from: 'google-instance';
      /** Address without a path. */
      readonly url: string;
    }
  | {
      /** An application that is registered with Entra. */
      readonly from: 'azure-application';
      readonly tokenUrl: string;
      readonly clientId: string;
      /** Its secret, or a file with a token of an identity provider that Entra trusts. */
      readonly proof: { readonly secret: Secret } | { readonly tokenFile: string };
      readonly scope: string;
    }
  | {
      /** The identity of an Azure machine or app. */
      readonly from: 'azure-identity';
      /** With its query. */
      readonly url: string;
      readonly headers: Readonly<Record<string, string | Secret>>;
    };
