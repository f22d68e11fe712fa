import { runProgram } from './program.mjs';
import { serveRequests } from './served.mjs';

const result = { ...(await runProgram(process.argv[2])), served: await serveRequests() };
process.stdout.write(JSON.stringify(result));
