import { runProgram } from './program.mjs';

process.stdout.write(JSON.stringify(await runProgram(process.argv[2])));
