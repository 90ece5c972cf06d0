// Which folders of src may import which, and no cycles between modules. Types alone do not count: they are gone at run time.

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that import each other cannot be read, tested or loaded one by one.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true }
    },
    {
      name: 'ui-stands-alone',
      comment: 'Buttons, menus and tabs know nothing of models and runs.',
      severity: 'error',
      from: { path: '^src/ui/' },
      to: { path: '^src/(api|forms|data|editor|runs|jupyter|widget)/' }
    },
    {
      name: 'api-stands-alone',
      comment: 'Generated types import nothing.',
      severity: 'error',
      from: { path: '^src/api/' },
      to: { path: '^src/(ui|forms|data|editor|runs|jupyter|widget)/' }
    },
    {
      name: 'forms-stand-alone',
      comment: 'Forms are generated from any schema: of layers, optimizers and transforms.',
      severity: 'error',
      from: { path: '^src/forms/' },
      to: { path: '^src/(data|editor|runs|jupyter|widget)/' }
    },
    {
      name: 'data-without-models',
      comment: 'Data sets are shown without an editor and without runs.',
      severity: 'error',
      from: { path: '^src/data/' },
      to: { path: '^src/(editor|runs|jupyter|widget)/' }
    },
    {
      name: 'runs-below-editor',
      comment: 'The dashboard is shown without an editor; the editor shows the layers of a run.',
      severity: 'error',
      from: { path: '^src/runs/' },
      to: { path: '^src/(forms|data|editor|jupyter|widget)/' }
    },
    {
      name: 'editor-without-host',
      comment: 'The editor runs in JupyterLab and in a notebook cell; what it needs of them stands in editor/host.ts.',
      severity: 'error',
      from: { path: '^src/editor/' },
      to: { path: '^src/(data|jupyter|widget)/' }
    },
    {
      name: 'hosts-apart',
      comment: 'The two hosts do not know of each other.',
      severity: 'error',
      from: { path: '^src/(jupyter|widget)/' },
      to: { path: '^src/(jupyter|widget)/', pathNot: '^src/$1/' }
    },
    {
      name: 'jupyter-only-in-hosts',
      comment: "The editor and the dashboard use JupyterLab's packages through their host.",
      severity: 'error',
      from: { path: '^src/(ui|api|forms|data|editor|runs|widget)/', pathNot: '__tests__' },
      to: { path: 'node_modules/@(jupyterlab|lumino)/' }
    }
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '__tests__' },
    tsPreCompilationDeps: false,
    tsConfig: { fileName: 'tsconfig.json' }
  }
};
