// The path of the program.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

/** Returns the path of the program: `FAKESERVER_BIN`, or that of the platform's package, or that on the `PATH`. */
exports.findProgram = function findProgram() {
    const named = process.env.FAKESERVER_BIN;
    if (named) {
        if (!isProgram(named)) {
            throw new Error(`FAKESERVER_BIN is ${named}, which is no program: correct it, or unset it to use the package's own`);
        }
        return path.resolve(named);
    }
    const name = `fakeserver-${process.platform}-${process.arch}`;
    try {
        return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'fakeserver');
    } catch (error) {
        if (error.code !== 'MODULE_NOT_FOUND') {
            throw error;
        }
    }
    const folders = (process.env.PATH ?? '').split(path.delimiter);
    const found = folders.map((folder) => path.join(folder, 'fakeserver')).find(isBinary);
    if (found) {
        return found;
    }
    throw new Error(
        `there is no program fakeserver for ${process.platform}-${process.arch}: install the package ${name} ` +
            '(npm leaves it out with --omit=optional), or set FAKESERVER_BIN to a program built from source',
    );
};

function isProgram(file) {
    try {
        fs.accessSync(file, fs.constants.X_OK);
        return fs.statSync(file).isFile();
    } catch {
        return false;
    }
}

/** Returns true for a program that is no script: a package manager puts `bin/fakeserver` on the `PATH`, which would find itself. */
function isBinary(file) {
    if (!path.isAbsolute(file) || !isProgram(file)) {
        return false;
    }
    const start = Buffer.alloc(2);
    const descriptor = fs.openSync(file, 'r');
    try {
        fs.readSync(descriptor, start, 0, 2, 0);
    } finally {
        fs.closeSync(descriptor);
    }
    return start.toString('latin1') !== '#!';
}

if (require.main === module) {
    try {
        console.log(exports.findProgram());
    } catch (error) {
        console.error(`fakeserver: ${error.message}`);
        process.exitCode = 2;
    }
}
