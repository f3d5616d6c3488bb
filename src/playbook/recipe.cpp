#include "playbook/recipe.h"

namespace strop::playbook {

void exclude_each_other(std::vector<Recipe>& recipes) {
    for (Recipe& recipe : recipes)
        for (const Recipe& other : recipes)
            if (other.strategy.id != recipe.strategy.id) recipe.strategy.excludes.push_back(other.strategy.id);
}

}  // namespace strop::playbook
