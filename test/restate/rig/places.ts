import { arch, platform } from 'node:os';
import { join } from 'node:path';

/** Where `npm run restate:install` puts the server, and where the services under test are built: nothing of it is committed. */
const home = join('node_modules', '.restate');
export const builtServices = join(home, 'services');
export const serverBinary = join(
  home,
  'node_modules',
  '@restatedev',
  `restate-server-${platform()}-${arch()}`,
  'bin',
  'restate-server',
);
