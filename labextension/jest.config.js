// jest runs the TypeScript sources in jsdom; types are checked by tsc, not here.

// Published as ES modules only, so jest has to translate them too.
const esModules = [
  '@jupyter',
  '@jupyterlab',
  '@lumino',
  '@microsoft',
  '@codemirror',
  '@lezer',
  '@marijn',
  '@rjsf',
  'd3-[a-z-]+',
  'exenv-es6',
  'internmap',
  'lib0',
  'lodash-es',
  'nanoid',
  'uplot',
  'uuid',
  'y-protocols',
  'yjs'
].join('|');

module.exports = {
  testEnvironment: 'jsdom',
  // axe reads a whole panel, which takes more than jest's 5 seconds on a busy machine
  testTimeout: 30_000,
  // The "node" builds of yjs and React Flow are CommonJS; the "browser" ones are not.
  testEnvironmentOptions: { customExportConditions: ['node', 'require'] },
  testMatch: ['<rootDir>/src/**/__tests__/**/*.spec.{ts,tsx}'],
  moduleFileExtensions: ['ts', 'tsx', 'js', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: {
    '\\.(css|less|sass|scss|svg)$': '<rootDir>/jest.style.js'
  },
  transform: {
    '^.+\\.tsx?$': ['ts-jest', { tsconfig: 'tsconfig.json' }],
    '^.+\\.m?js$': [
      'ts-jest',
      {
        tsconfig: {
          allowJs: true,
          isolatedModules: true,
          target: 'ES2020',
          esModuleInterop: true
        }
      }
    ]
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules}))`]
};
