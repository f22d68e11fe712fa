import { describe, expect, it } from 'vitest';
import { commandOf, hiddenArguments, recordableServer, withHiddenValues } from '../../../src/cli/mcp-servers.ts';

describe('what a journal records of an MCP server', () => {
  it.each([
    ['server --api-key hunter2hunter2 --verbose', 'server --api-key [hidden] --verbose'],
    ['server --api-key=hunter2', 'server --api-key=[hidden]'],
    ['server --apiKey hunter2 --githubToken abc', 'server --apiKey [hidden] --githubToken [hidden]'],
    [
      'server -token abc --client-secret abc --db-password abc',
      'server -token [hidden] --client-secret [hidden] --db-password [hidden]',
    ],
    ['env API_KEY=abc server', 'env API_KEY=[hidden] server'],
    ['server --header Authorization: Bearer abc', 'server --header Authorization: Bearer [hidden]'],
    ['server --header X-Api-Key:abc', 'server --header X-Api-Key:[hidden]'],
    ['server --db postgres://ann:abc@host/db', 'server --db postgres://ann:[hidden]@host/db'],
    [`server ghp_${'a'.repeat(30)}`, 'server [hidden]'],
    ['server --db-url=postgres://ann:abc@host/db', 'server --db-url=postgres://ann:[hidden]@host/db'],
    [
      'server --privatekey abc --accessKey=abc --cookie abc',
      'server --privatekey [hidden] --accessKey=[hidden] --cookie [hidden]',
    ],
    ['npx remote https://host/mcp?a=1&api_key=abc&b=2', 'npx remote https://host/mcp?a=1&api_key=[hidden]&b=2'],
    [
      'npx remote --url=https://host/mcp?token=abc&secret=abc',
      'npx remote --url=https://host/mcp?token=[hidden]&secret=[hidden]',
    ],
    ['server --conn=Server=host;AccountKey=abc==;Port=1', 'server --conn=Server=host;AccountKey=[hidden];Port=1'],
    ['server --header=X-Api-Key:abc', 'server --header=X-Api-Key:[hidden]'],
    [`server AKIA${'ABC1'.repeat(4)} -x hf_${'abc1'.repeat(6)}`, 'server [hidden] -x [hidden]'],
    [`server --x=eyJhbGciOiJIUzI1NiJ9.${'abc1'.repeat(4)}.${'abc1'.repeat(4)}`, 'server --x=[hidden]'],
    ['https://ann:abc@host/mcp?key=abc#abc', 'https://host/mcp'],
  ])('%s', (server, recorded) => {
    expect(recordableServer(server)).toBe(recorded);
    expect(recorded).not.toMatch(/abc|hunter2/u);
  });

  it.each([
    'server --token-limit 5 --max-tokens 5 --tokenizer x --key-file a.pem --keyboard us /data/token.txt',
    'server --token --verbose',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the CLI that replaces it
    'server --api-key $MY_KEY --token=${MY_TOKEN} --db=postgres://ann:$PW@host/db?key=$KEY',
    'npx -y -p @scope/package server --port=80 --keys=a,b --url=https://host:80/a?q=key',
    'https://host/mcp',
  ])('%s is recorded as it is', (server) => {
    expect(recordableServer(server)).toBe(server);
  });
});

describe('the values that a journal does not record', () => {
  it('are named, and filled in by order', () => {
    const recorded = 'server --api-key [hidden] --x 1 --token=[hidden]';
    expect(hiddenArguments(recorded)).toEqual(['--api-key', '--token']);
    expect(withHiddenValues(recorded, ['a', 'b'])).toBe('server --api-key a --x 1 --token=b');
    const inside = 'server --db=postgres://ann:[hidden]@host/db?key=[hidden]&a=1';
    expect(hiddenArguments(inside)).toEqual(['--db=postgres://ann', '@host/db?key']);
    expect(withHiddenValues(inside, ['a', 'b'])).toBe('server --db=postgres://ann:a@host/db?key=b&a=1');
  });

  it('come from environment variables if the command refers to them', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the CLI that replaces it
    expect(commandOf('server --api-key $MY_KEY --b=${OTHER}/x', { MY_KEY: 'a b', OTHER: 'c' })).toEqual([
      'server',
      '--api-key',
      'a b',
      '--b=c/x',
    ]);
    expect(() => commandOf('server --api-key $MY_KEY', {})).toThrow(/variable \$MY_KEY is not set/u);
  });
});
