// Sources of credentials other than plain keys: facts found when the configuration was loaded, and addresses to fetch
// from. Types only.
import type { Secret } from '../base/telemetry/secret.ts';

/** Keys of an AWS account. */
export type AwsKeySource =
  | {
      readonly from: 'given';
      readonly accessKeyId: string;
      readonly secretAccessKey: Secret;
      /** Session token of temporary keys. Null: permanent keys. */
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
      /** Value of `authorization`, unchanged. Null: none. */
      readonly token: Secret | null;
      /** File that contains it. Read each time, because it changes. */
      readonly tokenFile: string | null;
    }
  | {
      /** A role, obtained with a token that an identity provider writes to a file (EKS, CI). */
      readonly from: 'web-identity';
      readonly roleArn: string;
      readonly sessionName: string;
      readonly tokenFile: string;
      /** Address of STS. */
      readonly url: string;
    }
  | {
      /** A role, obtained with other keys. */
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
      /** A user who logged in with `gcloud auth application-default login`. */
      readonly from: 'google-user';
      readonly clientId: string;
      readonly clientSecret: Secret;
      readonly refreshToken: Secret;
      readonly tokenUrl: string;
      /** The project that is charged. Null: the one in the address. */
      readonly quotaProject: string | null;
    }
  | {
      /** An identity of another provider that Google trusts. */
      readonly from: 'google-federation';
      readonly audience: string;
      /** Token type as defined by RFC 8693. */
      readonly subjectTokenType: string;
      /** A file, or an address to request with these headers. */
      readonly subject:
        | { readonly file: string }
        | { readonly url: string; readonly headers: Readonly<Record<string, string>> };
      /** Member that contains the token if the subject is JSON. Null: it is the token itself. */
      readonly field: string | null;
      readonly tokenUrl: string;
      /** Address that exchanges the token for one of a service account. Null: the token itself is used. */
      readonly impersonationUrl: string | null;
    }
  | {
      /** The metadata server of a Google machine. */
      readonly from: 'google-instance';
      /** Address without a path. */
      readonly url: string;
    }
  | {
      /** An application registered with Entra. */
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
      /** Includes its query. */
      readonly url: string;
      readonly headers: Readonly<Record<string, string | Secret>>;
    };
