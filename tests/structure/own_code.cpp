// A check of clang-tidy that finds nothing: it shows the others the project's own declarations alone. Nine tenths of
// what a unit declares are headers of the system, where findings are dropped after the time that they took.
#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>

#include <vector>

namespace {

class OwnCode : public clang::tidy::ClangTidyCheck {
 public:
  using ClangTidyCheck::ClangTidyCheck;

  // The whole unit is matched before what it declares.
  void registerMatchers(clang::ast_matchers::MatchFinder* finder) override {
    finder->addMatcher(clang::ast_matchers::translationUnitDecl(), this);
  }

  void check(const clang::ast_matchers::MatchFinder::MatchResult& unit) override {
    std::vector<clang::Decl*> own;
    for (clang::Decl* declaration : unit.Context->getTranslationUnitDecl()->decls())
      if (!unit.SourceManager->isInSystemHeader(declaration->getLocation())) own.push_back(declaration);
    unit.Context->setTraversalScope(own);
  }
};

class Module : public clang::tidy::ClangTidyModule {
  void addCheckFactories(clang::tidy::ClangTidyCheckFactories& factories) override {
    factories.registerCheck<OwnCode>("ricci-own-code");
  }
};

const clang::tidy::ClangTidyModuleRegistry::Add<Module> added("ricci", "What Ricci asks of clang-tidy.");

}  // namespace
