// The set-up of Jest: `preset: 'fakeserver/jest'`.
'use strict';

module.exports = {
    globalSetup: require.resolve('./global-setup.cjs'),
    globalTeardown: require.resolve('./global-teardown.cjs'),
    setupFilesAfterEnv: [require.resolve('./setup.cjs')],
};
