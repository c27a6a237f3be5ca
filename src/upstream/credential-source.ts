// Where credentials come from that are not simply a key: what the catalog found out when the configuration was loaded,
// and what is fetched from there. Types only; knows no provider.
import type { Secret } from '../telemetry/secret.ts';

/** Keys of an AWS account. */
export type AwsKeySource =
  | {
      readonly from: 'given';
      readonly accessKeyId: string;
      readonly secretAccessKey: Secret;
      /** Of temporary keys; null for lasting ones. */
      readonly sessionToken: Secret | null;
    }
  | {
      /** The metadata service of an EC2 instance. */
      readonly from: 'instance';
      /** Without a path. */
      readonly url: string;
    }
  | {
      /** The agent of a container: ECS, EKS Pod Identity. */
      readonly from: 'container';
      readonly url: string;
      /** What goes into `authorization`, as it is; null: nothing. */
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
      /** Of STS. */
      readonly url: string;
    }
  | {
      /** A role, for other keys. */
      readonly from: 'role';
      readonly roleArn: string;
      readonly sessionName: string;
      readonly externalId: string | null;
      readonly base: AwsKeySource;
      /** Of STS. */
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
      /** Where the token is changed into one of a service account; null: it is used itself. */
      readonly impersonationUrl: string | null;
    }
  | {
      /** The metadata server of a Google machine. */
      readonly from: 'google-instance';
      /** Without a path. */
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
