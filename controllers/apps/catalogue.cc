#include "apps/catalogue.hh"

#include "common/json.hh"
#include "host/host_model.hh"
#include "links/impairment.hh"
#include "loader/controllers.hh"
#include "queues/registry.hh"

namespace kneepoint {

std::string catalogue() {
  JsonWriter json;
  Controllers::describe(json.begin_object());
  describe(json.key("queues"), Queues::kinds());
  describe(json.key("host_models"), host_models());
  describe(json.key("impairments"), Impairments::kinds());
  return json.end_object().text();
}

}  // namespace kneepoint
