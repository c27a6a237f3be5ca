// Start page of a gateway without requests: how to send one, and how to add a provider.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { Card } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { GuideLink } from '../ui/guide.tsx';
import { Icon } from '../ui/icon.tsx';

const FILE = `providers:
  openai: { api_key: "\${OPENAI_API_KEY}" }
  my-vllm: { preset: vllm, base_url: "http://10.0.0.5:8000/v1" }
`;

export function FirstUse(): ReactNode {
  const providers = useRead('GET /providers', { query: { limit: 100 } });
  const isSimOnly = providers.data?.data.every(({ id }) => id === 'sim') ?? true;
  return (
    <Card title="First steps">
      <ol className="grid gap-6 md:grid-cols-3">
        <Step number={1} title="Send a request">
          <p>
            The simulated models work without an account:{' '}
            <Link to="/playground" className="inline-flex items-center gap-1 text-accent underline">
              <Icon name="playground" size={14} />
              try sim/chat in the playground
            </Link>
            .
          </p>
        </Step>
        <Step number={2} title={isSimOnly ? 'Add a provider' : 'Providers are configured'}>
          {isSimOnly ? (
            <>
              <p>
                Start the gateway with the provider’s usual variable (
                <code className="font-mono">OPENAI_API_KEY=… npm start</code>), or write{' '}
                <code className="font-mono">dragoman.yaml</code> in the folder where you start it. Changes of
                the file apply without a restart:
              </p>
              <Code text={FILE} label="dragoman.yaml" />
              <p>
                <GuideLink to="/providers">All providers</GuideLink>
              </p>
            </>
          ) : (
            <p>
              {providers.data?.data.map(({ name }) => name).join(', ')}:{' '}
              <Link to="/providers" className="text-accent underline">
                see their models
              </Link>
              .
            </p>
          )}
        </Step>
        <Step number={3} title="Connect a program">
          <p>
            Create a key on the page{' '}
            <Link to="/keys" className="text-accent underline">
              Keys
            </Link>
            , and use this base URL:
          </p>
          <Code text={`${location.origin}/v1`} label="Base URL" />
          <p>
            <GuideLink to="#guides">Settings of each client</GuideLink>
          </p>
        </Step>
      </ol>
    </Card>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ number, title, children }: StepProps): ReactNode {
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <h3 className="flex items-center gap-2 font-semibold">
        <span className="figures flex size-6 items-center justify-center rounded-full bg-sunk text-sm text-soft">
          {number}
        </span>
        {title}
      </h3>
      {children}
    </li>
  );
}
